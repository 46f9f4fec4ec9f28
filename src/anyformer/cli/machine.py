"""What this machine is, in words: processor and what it can do, graphics processors, memory, caches of the hub."""

import os
import platform
import re
from pathlib import Path
from typing import Any

CPU_INFO, MEMORY_INFO = Path("/proc/cpuinfo"), Path("/proc/meminfo")
FEATURES = {  # flags of the processor, and what to call them
    "avx2": "AVX2",
    "avx512f": "AVX-512",
    "avx512_vnni": "AVX-512 VNNI (int8)",
    "avx512_bf16": "AVX-512 bf16",
    "amx_int8": "AMX int8",
    "amx_bf16": "AMX bf16",
    "asimd": "NEON",
    "sve": "SVE",
    "bf16": "bf16",
    "i8mm": "int8 products",
}


def cpu() -> dict[str, Any]:
    """name, cores that this process may use, features in words."""
    text = CPU_INFO.read_text() if CPU_INFO.is_file() else ""
    flags = set((_field(text, "flags") or _field(text, "Features")).split())
    name = _field(text, "model name") or platform.processor() or platform.machine()
    return {"name": name, "cores": cores(), "features": features(flags)}


def features(flags: set[str]) -> list[str]:
    """In words; where the system lists no flags, what PyTorch was able to find out."""
    if flags:
        return [words for flag, words in FEATURES.items() if flag in flags]
    import torch

    return [torch.backends.cpu.get_cpu_capability()]


def bf16_in_words(found: list[str]) -> str:
    """What half precision is worth here."""
    if "AMX bf16" in found:
        return "bf16 runs on AMX: several times as fast as fp32 where many rows are run together"
    if any("bf16" in one for one in found):
        return "bf16 products in hardware, no AMX"
    return "no bf16 products in hardware: fp32 is the faster precision"


def cores() -> int:
    """Those that the process may run on, which may be fewer than there are."""
    allowed = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def memory_gb() -> float | None:
    text = MEMORY_INFO.read_text() if MEMORY_INFO.is_file() else ""
    kilobytes = _field(text, "MemTotal").removesuffix(" kB")
    return round(int(kilobytes) / 1e6, 1) if kilobytes.isdigit() else None


def accelerators() -> list[str]:
    import torch

    found = (
        [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    )
    return found + (["Apple GPU (mps)"] if torch.backends.mps.is_available() else [])


def caches() -> dict[str, dict[str, Any]]:
    """Where models and data of the hub are kept, and how much is there."""
    from huggingface_hub import constants

    hub = Path(constants.HF_HUB_CACHE)
    data = Path(os.environ.get("HF_DATASETS_CACHE") or Path(constants.HF_HOME) / "datasets")
    return {
        "models": {"path": str(hub), "size_mb": size_mb(hub)},
        "data": {"path": str(data), "size_mb": size_mb(data)},
        "hub": {"offline": bool(constants.HF_HUB_OFFLINE)},
    }


def size_mb(folder: Path) -> float:
    """Links are not followed, so that what a cache links to is counted once."""
    return round(sum(f.lstat().st_size for f in folder.rglob("*") if f.is_file() and not f.is_symlink()) / 1e6, 1)


def _field(text: str, name: str) -> str:
    found = re.search(rf"^{name}\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else ""
