#!/usr/bin/env bash
# Gradescope runs this once, when the autograder is uploaded: builds mha from the sources beside it and puts it on the path.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/mha"
source scripts/setup.sh
install_missing "${build_packages[@]}" python3
if ! printf '3.24\n%s\n' "$(cmake --version | head -n 1 | cut -d ' ' -f 3)" | sort -VC; then
  install_missing python3-pip
  quietly "installing a newer cmake" python3 -m pip install 'cmake>=3.24'
fi
if (($(g++ -dumpversion | cut -d . -f 1) < 12)); then
  install_missing g++-12
  export CXX=g++-12
fi
build release mha -DMHA_TESTS=OFF
install -D build/mha "${MHA_BIN:-/usr/local/bin}/mha"
