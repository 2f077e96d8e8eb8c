# What the steps of scripts/test need on the machine and below the target folder: functions of scripts/test.

# The Debian packages of a group of tools that are missing.
missing_packages() {
    case $1 in
        rust-tests)
            missing_packages python3
            command -v curl >/dev/null || echo curl
            command -v script >/dev/null || echo bsdutils
            command -v openssl >/dev/null || echo openssl
            command -v strace >/dev/null || echo strace
            command -v faketime >/dev/null || echo faketime
            missing_packages postgres
            ;;
        # Its programs are not on the path.
        postgres)
            compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null ||
                echo postgresql
            ;;
        python3) command -v python3 >/dev/null || echo python3 ;;
        python | examples-python | generators)
            missing_packages python3
            python3 -c 'import venv, ensurepip' 2>/dev/null || echo python3-venv
            ;;
        node | examples-typescript)
            command -v node >/dev/null || echo nodejs
            command -v npm >/dev/null || echo npm
            ;;
        java) command -v java >/dev/null || echo default-jre-headless ;;
        curl) command -v curl >/dev/null || echo curl ;;
        ssh-keygen) command -v ssh-keygen >/dev/null || echo openssh-client ;;
        openssl) command -v openssl >/dev/null || echo openssl ;;
        languages)
            command -v go >/dev/null || echo golang-go
            [[ -e /usr/share/gocode/src/gopkg.in/validator.v2 ]] || echo golang-gopkg-validator.v2-dev
            ruby -r typhoeus -e '' 2>/dev/null || printf '%s\n' ruby ruby-typhoeus
            command -v javac >/dev/null || echo default-jdk-headless
            [[ -e /usr/share/java/geronimo-annotation-1.3-spec.jar ]] ||
                echo libgeronimo-annotation-1.3-spec-java
            php -r 'require "GuzzleHttp/autoload.php"; mb_strlen(""); curl_version();' >/dev/null 2>&1 ||
                printf '%s\n' php-cli php-curl php-guzzlehttp-guzzle php-mbstring
            ;;
        packaging)
            command -v dpkg-shlibdeps >/dev/null || echo dpkg-dev
            command -v fakeroot >/dev/null || echo fakeroot
            command -v lintian >/dev/null || echo lintian
            command -v systemd-analyze >/dev/null || echo systemd
            ;;
    esac
}

# install_debian_packages GROUP...: what the groups need.
install_debian_packages() {
    local missing=() group as_root=()
    mapfile -t missing < <(for group; do missing_packages "$group"; done | sort -u)
    ((${#missing[@]})) || return 0
    if ((EUID != 0)); then
        as_root=(sudo -n)
    fi
    if ! command -v apt-get >/dev/null || ! "${as_root[@]}" true 2>/dev/null; then
        echo "Missing Debian packages: ${missing[*]}. Install them, or run this as root." >&2
        return 1
    fi
    echo "Installing ${missing[*]}"
    "${as_root[@]}" apt-get -qq update
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq install --yes --no-install-recommends "${missing[@]}"
}

# install_python_tools VENV REQUIREMENTS. An installation is current if its stamp has the
# expected content.
install_python_tools() {
    local venv=$1 requirements=$2 stamp
    stamp=$(echo "$venv"; python3 --version; cat "$requirements")
    if [[ $stamp == "$(cat "$venv/stamp" 2>/dev/null)" ]]; then
        echo "The Python tools of $requirements are there."
        return
    fi
    rm -rf "$venv"
    python3 -m venv "$venv"
    # Without dependencies, because all are pinned; `pip check` reports missing ones.
    "$venv/bin/pip" install --quiet --disable-pip-version-check \
        --no-deps --requirement "$requirements"
    "$venv/bin/pip" check --disable-pip-version-check
    echo "$stamp" >"$venv/stamp"
}

# install_node_tools FOLDER SOURCE: installs what package-lock.json in SOURCE pins.
install_node_tools() {
    local folder=$1 source=$2 stamp
    stamp=$(echo "$folder"; node --version; cat "$source/package-lock.json")
    if [[ $stamp == "$(cat "$folder/stamp" 2>/dev/null)" ]]; then
        echo "The Node tools of $source are there."
        return
    fi
    rm -rf "$folder"
    mkdir -p "$folder"
    cp "$source"/{package.json,package-lock.json,.npmrc} "$folder"
    (cd "$folder" && npm ci --loglevel=error)
    echo "$stamp" >"$folder/stamp"
}

# install_cargo_tool PACKAGE ...: once per target folder; unoptimized, because the tools do little work.
install_cargo_tool() {
    cargo install --quiet --locked --debug --root "$outside/cargo" "$@"
}

# install_unpacked PROGRAM PACKAGE: a program from a Debian package, unpacked below the target folder instead of
# installed, because an installation would start a server. With its own package lists, which needs no root.
install_unpacked() {
    local program=$1 package=$2 folder=$outside/${1##*/} lists=$scratch/apt
    if [[ -x $folder/$program ]]; then
        echo "$program is there."
        return
    fi
    mkdir -p "$lists/lists/partial" "$lists/archives/partial"
    local apt=(apt-get -qq -o "Dir::State::Lists=$lists/lists" -o "Dir::Cache=$lists" -o Debug::NoLocking=1)
    "${apt[@]}" update
    (cd "$lists" && "${apt[@]}" download "$package")
    dpkg -x "$lists/$package"_*.deb "$folder"
}

# install_tools GROUP...: the Debian packages of the groups, and what they install below the target folder.
install_tools() {
    local group
    install_debian_packages "$@"
    for group; do
        case $group in
            python) install_python_tools "$outside/venv" tests/outside/requirements.txt ;;
            generators) install_python_tools "$outside/generators" tests/outside/generators.txt ;;
            examples-python) install_python_tools "$outside/examples/venv" examples/python/requirements.txt ;;
            node) install_node_tools "$outside/node" tests/outside ;;
            examples-typescript) install_node_tools "$outside/examples/typescript" examples/typescript ;;
            chromium) tests/outside/install-chromium "$outside/chromium" ;;
            cargo-deny) install_cargo_tool cargo-deny@0.20.2 ;;
            s3s-fs) install_cargo_tool s3s-fs@0.14.1 --features binary ;;
            promtool) install_unpacked usr/bin/promtool prometheus ;;
            # Not the name of the step.
            nginx-program) install_unpacked usr/sbin/nginx nginx ;;
        esac
    done
}
