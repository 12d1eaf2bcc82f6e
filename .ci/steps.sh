# What .ci/run and .ci/matrix do, as functions. Sourced from the root of a clone.
failed=()
passed=()
skipped=()
pytest_log=build/ci/pytest.log
mkdir -p build/ci
rm -f "$pytest_log"
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 DEBIAN_FRONTEND=noninteractive
export PIP_QUIET="${PIP_QUIET:-1}"
command -v ccache >/dev/null && export CMAKE_CXX_COMPILER_LAUNCHER=ccache

# step NAME COMMAND...: runs the command, prints its time, keeps its verdict. Status 77 means skipped.
step() {
  local name=$1 begin=$SECONDS status
  shift
  printf '\n==== %s\n' "$name"
  if [[ $name == tests:* ]]; then
    "$@" 2>&1 | tee -a "$pytest_log"
    status=${PIPESTATUS[0]}
  else
    "$@" 2>&1
    status=$?
  fi
  case $status in
    0) passed+=("$name"); printf '==== passed in %d s\n' $((SECONDS - begin)) ;;
    77) skipped+=("$name"); printf '==== SKIPPED\n' ;;
    *) failed+=("$name (status $status)"); printf '==== FAILED with status %d after %d s\n' "$status" $((SECONDS - begin)) ;;
  esac
}

# Prints the verdicts and, last, pytest's own summary; exits.
report() {
  printf '\n==== summary after %d s\n' "$SECONDS"
  [ ${#passed[@]} -eq 0 ] || printf 'passed   %s\n' "${passed[@]}"
  [ ${#skipped[@]} -eq 0 ] || printf 'SKIPPED  %s\n' "${skipped[@]}"
  [ ${#failed[@]} -eq 0 ] || printf 'FAILED   %s\n' "${failed[@]}"
  [ -f "$pytest_log" ] || { echo "pytest did not run"; exit 1; }
  grep -E '^(FAILED|ERROR) ' "$pytest_log" | head -n 40
  grep -E '[0-9]+ (passed|failed|errors?|skipped|deselected|xfailed)\b.* in [0-9.]+s' "$pytest_log" || { echo "pytest printed no summary"; exit 1; }
  [ ${#failed[@]} -eq 0 ]
  exit
}

find_python() {
  local candidate
  for candidate in "${PYTHON:-python3}" python3.13 python3.15 python3.14 python3.12 python3.11 python; do
    candidate=$(command -v "$candidate") || continue
    "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$candidate"; return; }
  done
  return 1
}

# apt_get PACKAGE...: installs Debian packages when that is possible here.
apt_get() {
  local sudo=
  command -v apt-get >/dev/null || return 1
  [ "$(id -u)" = 0 ] || { sudo -n true 2>/dev/null && sudo=sudo; } || return 1
  $sudo apt-get update -qq && $sudo apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# Distributions split venv and the C headers off Python: installs what is missing.
need_python_parts() {
  local version
  version=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  "$1" -c 'import ensurepip' 2>/dev/null || apt_get "python$version-venv" || echo "python$version has no venv module"
  "$1" -c 'import os, sysconfig; raise SystemExit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
    apt_get "python$version-dev" || echo "python$version has no C headers"
  command -v g++ >/dev/null || apt_get g++ || echo "no g++"
}

# readme_command NAME: the command line in README.md that follows the comment <!-- NAME -->.
readme_command() {
  local line
  line=$(awk -v mark="<!-- $1 -->" '$0 == mark {seen = 1; next} seen && NF && !/^```/ {sub(/^ +/, ""); print; exit}' README.md)
  [ -n "$line" ] && echo "$line" || { echo "false '(README.md has no $1 command)'"; }
}

# The tests of devices, on a driver that runs kernels on the host, and those of device text with NVRTC itself.
run_device_tests() {
  .venv/bin/python -m pip install -q nvidia-cuda-nvrtc && .venv/bin/python -m pytest tests/codegen/cuda || return
  (
    eval "$(.venv/bin/python tests/support/emulated_driver/build.py)" && export ACCEL_CUDA_DRIVER ACCEL_NVRTC ACCEL_CUDA_POOL &&
      .venv/bin/python -m pytest tests/cuda
  )
}

# One list of lint tools: the `lint` extra in pyproject.toml.
install_lint_tools() {
  .venv/bin/python - <<'PYTHON' >build/ci/lint.txt || return 1
import tomllib
with open("pyproject.toml", "rb") as file:
    extras = tomllib.load(file)["project"]["optional-dependencies"]
print("\n".join(extras["lint"] + ["cmake>=3.24", "ninja", "pybind11>=3.0"]))
PYTHON
  .venv/bin/pip install -r build/ci/lint.txt
}

check_clang_format() {
  git ls-files -z '*.cpp' '*.h' '*.cu' | xargs -0 -r .venv/bin/clang-format --dry-run -Werror
}

run_cpp_tests() {
  if [ ! -e /usr/include/gtest/gtest.h ] && [ ! -e /usr/local/include/gtest/gtest.h ]; then
    apt_get libgtest-dev || { echo "GoogleTest is not installed and cannot be: apt-get install libgtest-dev"; return 77; }
  fi
  PATH="$PWD/.venv/bin:$PATH"
  cmake --preset address -DPython_EXECUTABLE="$PWD/.venv/bin/python" -Dpybind11_DIR="$(python -m pybind11 --cmakedir)" >build/ci/cmake.log ||
    { cat build/ci/cmake.log; return 1; }
  cmake --build --preset address --target accel_tests >build/ci/ninja.log || { grep -v '^\[' build/ci/ninja.log | tail -n 100; return 1; }
  ctest --preset address
}
