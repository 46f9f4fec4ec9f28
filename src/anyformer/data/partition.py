"""Parts of a data set by content: the same texts make the same parts, on every machine and in every order.

Records whose texts differ in case or white space only stay together. Each label is spread over the parts in the
proportion it has in the whole, and within a label the digest of the text decides.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

from anyformer.data.records import Record, Records
from anyformer.errors import DataError


def content_key(text: str) -> str:
    """Equal for texts that differ in case or white space only."""
    return " ".join(text.casefold().split())


def partition(
    records: Sequence[Record],
    shares: Sequence[float],
    text: Callable[[Record], str],
    label: Callable[[Record], str] = lambda _: "",
    salt: str = "anyformer",
) -> list[Records]:
    """Parts of about these shares of the records, each in the order given; another salt cuts elsewhere."""
    groups: dict[str, list[int]] = defaultdict(list)
    for i, record in enumerate(records):
        groups[_digest(text(record), salt)].append(i)
    if len(groups) < len(shares):
        raise DataError(
            f"{len(groups)} different records cannot be split in {len(shares)} parts; give a validation file"
        )
    labels = {digest: min(label(records[i]) for i in members) for digest, members in groups.items()}
    part_of = _cut(_spread(labels), {d: len(m) for d, m in groups.items()}, shares)
    parts: list[Records] = [[] for _ in shares]
    for part, i in sorted((part_of[digest], i) for digest, members in groups.items() for i in members):
        parts[part].append(records[i])
    return parts


def _digest(text: str, salt: str) -> str:
    return sha256(f"{salt}\n{content_key(text)}".encode("utf-8", "replace")).hexdigest()


def _spread(labels: dict[str, str]) -> list[str]:
    """Digests in an order in which every stretch holds the labels in their proportion."""
    totals, seen = Counter(labels.values()), Counter[str]()
    places = []
    for digest, label in sorted(labels.items()):
        seen[label] += 1
        places.append(((seen[label] - 0.5) / totals[label], digest))
    return [digest for _, digest in sorted(places)]


def _cut(digests: Iterable[str], sizes: dict[str, int], shares: Sequence[float]) -> dict[str, int]:
    """Which part each digest goes to; no part is left without one."""
    ordered = list(digests)
    total, n_parts = sum(sizes.values()), len(shares)
    part_of, part, before = {}, 0, 0
    for at, digest in enumerate(ordered):
        full = before >= round(total * sum(shares[: part + 1]) / sum(shares))
        must = len(ordered) - at <= n_parts - 1 - part
        if part < n_parts - 1 and at > 0 and (full or must):
            part += 1
        part_of[digest] = part
        before += sizes[digest]
    return part_of
