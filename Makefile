# make demo | make test | make lint: each installs what it needs into .venv first.
VENV ?= .venv
BIN := $(VENV)/bin
export HF_HUB_OFFLINE = 1

.PHONY: demo test lint clean

demo: $(VENV)/.demo
	@sh scripts/demo $(BIN)

test: $(VENV)/.dev
	$(BIN)/python -m pytest -q -n auto --dist loadfile

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	MYPY=$(abspath $(BIN))/mypy scripts/typecheck

$(VENV)/.demo: pyproject.toml
	sh scripts/install $(VENV) baseline,report
	touch $@

$(VENV)/.dev: pyproject.toml
	sh scripts/install $(VENV) dev,baseline,chinese,judge,report,rag
	touch $@

clean:
	rm -rf $(VENV) build dist demo *.egg-info
