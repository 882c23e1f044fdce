# make run    ingest the sample corpus (or SOURCE=folder) into HOME_DIR
# make dev    the Dagster UI on the same instance and store, http://127.0.0.1:3000, and the pages of
#             documents that it links to
# make test   lint, format, types, tests
# make clean  remove the environment; the homes stay

SHELL := /bin/bash
SOURCE ?= data/corpus
HOME_DIR ?= .drac
PORT ?= 3000
BIN := .venv/bin
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run dev test lint setup setup-dev clean

run: setup
	$(BIN)/drac run "$(SOURCE)" --home "$(HOME_DIR)"
	$(BIN)/drac export chunks "$(HOME_DIR)/chunks.parquet" --home "$(HOME_DIR)"

dev: setup
	@test -e "$(HOME_DIR)/dagster.yaml" || { mkdir -p "$(HOME_DIR)" && cp drac_pipeline/defs/dagster.yaml "$(HOME_DIR)/"; }
	@test ! -d "$(HOME_DIR)/store/documents" || { $(BIN)/drac inspect --serve --home "$(HOME_DIR)" & pages=$$!; \
	  trap "kill $$pages 2>/dev/null" EXIT; }; \
	DAGSTER_HOME="$(abspath $(HOME_DIR))" $(BIN)/dagster dev -w workspace.yaml -p $(PORT)

test: setup-dev lint
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright

setup:
	@scripts/setup.sh

setup-dev:
	@scripts/setup.sh dev

clean:
	rm -rf .venv
