# Shared by scripts/demo and scripts/test: installs what is missing, and keeps quiet about what works.
# shellcheck shell=bash disable=SC2034

build_packages=(g++ cmake make libcli11-dev libfmt-dev nlohmann-json3-dev libutf8proc-dev libzip-dev libxlsxwriter-dev zlib1g-dev opencl-c-headers)
test_packages=(catch2 python3 python3-numpy python3-jsonschema ocl-icd-libopencl1 pocl-opencl-icd
  chromium chromium-driver python3-selenium python3-pip poppler-utils librsvg2-bin
  texlive-latex-base python3-markdown-it gnumeric
  python3-nbformat python3-nbclient python3-ipykernel)
check_packages=(clang libclang-rt-dev clang-format clang-tidy shellcheck)

# quietly WHAT COMMAND…: one line that says what happens; the command's own output, less make's progress, only if it
# fails, and then the end.
quietly() {
  local what=$1 log
  shift
  log=$(mktemp)
  echo "$what ..." >&2
  if ! "$@" > "$log" 2>&1 < /dev/null; then
    grep -v '^\[ *[0-9]*%\] ' "$log" >&2 || true
    rm -f "$log"
    echo "failed: $what" >&2
    exit 1
  fi
  rm -f "$log"
}

is_installed() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2> /dev/null || true) == installed ]]
}

# install_missing PACKAGE…: by Debian's names. Where they cannot be installed CMake fetches the libraries, so go on.
install_missing() {
  local as_root=() missing=() package
  if ! command -v apt-get > /dev/null; then
    echo "no apt-get here; what is needed is, by Debian's names: $*" >&2
    return
  fi
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    return
  fi
  if ((EUID != 0)); then
    if ! command -v sudo > /dev/null; then
      echo "neither root nor sudo, so this is left to you: apt-get install ${missing[*]}" >&2
      return
    fi
    as_root=(sudo)
  fi
  quietly "updating the list of packages" "${as_root[@]}" apt-get update
  quietly "installing ${missing[*]}" \
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}"
}

# fetch_axe FOLDER: axe-core, which looks for what keeps people from using a page, from the package on PyPI that carries it.
# Without a network the test that needs it is skipped.
fetch_axe() {
  if [[ ! -d $1 ]] && ! python3 -m pip install --quiet --no-deps --target "$1" axe-selenium-python==2.1.6 > /dev/null 2>&1; then
    rm -rf "$1"
    echo "axe-core could not be fetched; the test of accessibility will be skipped" >&2
  fi
}

# build PRESET TARGET [CMAKE OPTION…]
build() {
  local preset=$1 target=$2
  shift 2
  quietly "configuring ($preset)" cmake --preset "$preset" "$@"
  quietly "building $target ($preset)" cmake --build --preset "$preset" --target "$target" --parallel "$(nproc)"
}
