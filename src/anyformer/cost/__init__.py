"""What a plan costs: closed-form MACs here, measured time in latency.py."""
