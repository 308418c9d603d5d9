"""Upload a finished data set to the Hub: its data files, card and manifest, and nothing else of its folder.

python -m data_gen.push --data data/collab --repo ORG/NAME [--private] [--dry-run]
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

from data_gen.data_set import MANIFEST
from eval.command import command
from eval.config import ConfigError

ABOUT = "Upload a finished data set to the Hugging Face Hub, as a data set repository."


@command(stopped="run it again; files that are already uploaded are skipped")
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0 once the data set is on the Hub."""
    options = _parser().parse_args(argv)
    check_name(options.repo)
    files = checked_files(options.data)
    total = sum((options.data / name).stat().st_size for name in files)
    print(f"{len(files)} files, {total / 1e6:.1f} MB, to datasets/{options.repo}: {', '.join(files)}", flush=True)
    if not options.dry_run:
        print(push(options.data, files, options.repo, options.private))
    return 0


def checked_files(folder: Path) -> list[str]:
    """The files listed in the manifest of `folder`, and the manifest itself.

    Raises:
        ConfigError: the data set is not finished, or a file does not match its hash in the manifest.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise ConfigError(f"{path} does not exist: not a finished data set; make one with `python -m data_gen.run`")
    try:
        files = {name: str(entry["sha256"]) for name, entry in json.loads(path.read_text("utf-8"))["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path} is not a valid data set manifest: {type(error).__name__}: {error}") from error
    for name, digest in files.items():
        if Path(name).name != name or not (folder / name).is_file():
            raise ConfigError(f"{path} lists {name!r}, which is not a file of {folder}; generate the data set again")
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest:
            raise ConfigError(f"{folder / name} was changed after it was written; run `python -m data_gen.run` again")
    return [*files, MANIFEST]


def check_name(repo: str) -> None:
    """Validate the repository name before any upload, also in a dry run.

    Raises:
        ConfigError: it is not a valid ORG/NAME.
    """
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id

    try:
        validate_repo_id(repo)
    except HFValidationError as error:
        raise ConfigError(f"--repo {repo!r} is not a valid Hub name; give ORG/NAME: {error}") from error
    if "/" not in repo:
        raise ConfigError(f"--repo {repo!r} has no owner; give ORG/NAME")


def push(folder: Path, files: list[str], repo: str, private: bool) -> str:
    """Upload `files` in one commit to the data set `repo`, created if necessary; returns the URL of the commit.

    Raises:
        ConfigError: the Hub refuses or cannot be reached, or `repo` is public and `private` is set.
    """
    from httpx import HTTPError
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HFValidationError

    hub = HfApi()
    try:
        hub.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
        if private and not hub.repo_info(repo, repo_type="dataset").private:
            raise ConfigError(f"{repo} already exists and is public; choose another --repo, or omit --private")
        done = hub.upload_folder(
            folder_path=folder,
            repo_id=repo,
            repo_type="dataset",
            allow_patterns=files,
            commit_message=f"Add {folder.name}",
        )
    except (HTTPError, HFValidationError, OSError, RuntimeError) as error:  # RuntimeError: the upload of a large file
        reason = (str(error).strip().splitlines() or ["no detail"])[0]
        raise ConfigError(
            f"uploading to {repo} failed ({type(error).__name__}: {reason}); "
            "check the network, log in with `hf auth login`, and check the name and your permissions"
        ) from error
    return done.commit_url


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m data_gen.push", description=ABOUT)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="folder of the data set")
    parser.add_argument("--repo", required=True, metavar="ORG/NAME", help="repository on the Hub")
    parser.add_argument("--private", action="store_true", help="create a private repository")
    parser.add_argument("--dry-run", action="store_true", help="check the files, print what would be uploaded and exit")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
