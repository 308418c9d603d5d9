"""Virtual environments for the evaluators that ours is compared with: one each, in a cache folder, with fixed versions.

    python benchmarks/peer_venv.py          creates missing environments and prints their interpreters

Their dependencies may conflict with ours. On Linux, PyPI's torch is a CUDA build of several GB; set
`PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu` for the CPU build.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

CACHE = Path("~/.cache/userturn/peers").expanduser()
HUGGING_FACE = ("torch==2.13.0", "transformers==5.17.0", "accelerate==1.15.0")
"""The versions of our own environment."""
REQUIREMENTS = {
    "lm-eval": ("lm-eval[hf]==0.4.13", *HUGGING_FACE),
    "inspect-ai": ("inspect-ai==0.3.285", "openai==3.57.0", *HUGGING_FACE),
}


def python_of(peer: str) -> Path:
    """The interpreter of a peer's environment, which is created if it is missing or has other versions.

    Raises:
        CalledProcessError: pip could not install it; its output is on standard error.
    """
    folder, wanted = CACHE / peer, "\n".join(REQUIREMENTS[peer])
    made, python = folder / "requirements.txt", folder / "bin" / "python"
    if not made.exists() or made.read_text(encoding="utf-8") != wanted:
        print(f"installing {peer} into {folder}", file=sys.stderr, flush=True)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *REQUIREMENTS[peer]], check=True, stdout=sys.stderr)
        made.write_text(wanted, encoding="utf-8")
    return python


if __name__ == "__main__":
    for name in REQUIREMENTS:
        print(python_of(name))
