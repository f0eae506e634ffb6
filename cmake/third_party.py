#!/usr/bin/env python3
"""Licences of the libraries that a bundle or a wheel carries.

third_party.py notices FOLDER LIB... writes the copyright file of each library LIB, and of the packages whose
code is compiled in, to FOLDER third_party.py wheel FILE adds these files to a wheel that auditwheel has
repaired, and names the licences in its METADATA and SBOM

A library that the table below does not have is an error, so that none is distributed before somebody has read
its licence."""

import base64
import csv
import hashlib
import io
import json
import pathlib
import re
import subprocess
import sys
import zipfile

GCC = "GPL-3.0-or-later WITH GCC-exception-3.1"
LIBRARIES = {  # name without version: SPDX expression
    "libblosc": "BSD-3-Clause AND MIT AND Zlib",
    "libdeflate": "MIT",
    "libfmt": "MIT",
    "libgcc_s": GCC,
    "libhwy": "Apache-2.0",
    "libjpeg": "IJG AND BSD-3-Clause AND Zlib",
    "liblz4": "BSD-2-Clause",
    "libpng16": "libpng-2.0",
    "libpugixml": "MIT",
    "libsnappy": "BSD-3-Clause",
    "libspdlog": "MIT",
    "libstdc++": GCC,
    "libtiff": "libtiff",
    "libz": "Zlib",
    "libzstd": "BSD-3-Clause",
}
COMPILED_IN = {"nlohmann-json3-dev": "MIT", "libcli11-dev": "BSD-3-Clause"}  # Debian package: SPDX expression
CUDA_LICENCE = pathlib.Path("/usr/local/cuda/EULA.txt")  # of libcudart_static, in builds with the GPU's code


def name_of(library):
    """libtiff of libtiff.so.6, and of auditwheel's libtiff-1a2b3c4d.so.6.0.0."""
    name = re.match(r"(.+?)(-[0-9a-f]{8})?(-\d[\d.]*)?\.so(\.|$)", pathlib.Path(library).name)[1]
    return name if name in LIBRARIES else name.rstrip("0123456789.-")


def copyright_files(libraries):
    """{name: text} for these libraries and what is compiled in. Exits where a library is not in the table or
    has no copyright file."""
    found = {}
    for library in sorted({name_of(library) for library in libraries}):
        if library.startswith("libcu"):
            continue  # NVIDIA's, under CUDA_LICENCE
        if library not in LIBRARIES:
            sys.exit(
                f"{library} must not be distributed before its licence is read: add it to {__file__}, or build without it"
            )
        owners = subprocess.run(
            ["dpkg-query", "--search", f"*/{library}.so.*"], text=True, capture_output=True
        ).stdout
        packages = {
            line.split(":")[0]
            for line in owners.splitlines()
            if re.search(rf"/lib(/[^/]*linux[^/]*)?/{re.escape(library)}\.so\.", line)
        }
        if not packages:
            sys.exit(f"no package owns {library}, so its copyright file is not known")
        found[library] = "\n\n".join(copyright_of(package) for package in sorted(packages))
    for package in COMPILED_IN:
        found[package] = copyright_of(package)
    # Debian's copyright files name longer licences by their path only.
    named = sorted(set(re.findall(r"/usr/share/common-licenses/([\w.-]*\w)", "\n".join(found.values()))))
    for licence in named:
        text = pathlib.Path("/usr/share/common-licenses") / licence
        if text.is_file():
            found[f"common-licenses-{licence}"] = text.read_text()
    return found


def copyright_of(package):
    file = pathlib.Path("/usr/share/doc") / package / "copyright"
    if not file.is_file():
        sys.exit(f"{file} is not there: install {package} with its documentation")
    return file.read_text()


def notices(folder, libraries):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in copyright_files(libraries).items():
        (folder / f"{name}.txt").write_text(text)
    if CUDA_LICENCE.is_file():
        (folder / "cuda.txt").write_text(CUDA_LICENCE.read_text(errors="replace"))


def expression(names):
    """The licence of a whole that holds these: each term once, in brackets where it is a choice."""
    terms = ["Apache-2.0"]
    for name in names:
        terms += [term for term in {**LIBRARIES, **COMPILED_IN}[name].split(" AND ") if term not in terms]
    return " AND ".join(terms)


def wheel(file):
    file = pathlib.Path(file)
    with zipfile.ZipFile(file) as archive:
        entries = {info.filename: (info, archive.read(info)) for info in archive.infolist()}
    info_folder = next(name.split("/")[0] for name in entries if name.endswith(".dist-info/METADATA"))
    libraries = [name for name in entries if name.split("/")[0].endswith(".libs") and ".so" in name]
    texts = copyright_files(libraries)
    names = sorted({name_of(library) for library in libraries} | set(COMPILED_IN))

    def put(name, data):
        info = entries[name][0] if name in entries else zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        info.compress_type = zipfile.ZIP_DEFLATED
        entries[name] = (info, data)

    for name, text in texts.items():
        put(f"{info_folder}/licenses/third_party/{name}.txt", text.encode())
    metadata = entries[f"{info_folder}/METADATA"][1].decode()
    lines = [f"License-File: third_party/{name}.txt" for name in texts]
    metadata = re.sub(
        r"^License-Expression: .*$", f"License-Expression: {expression(names)}", metadata, flags=re.MULTILINE
    )
    metadata = re.sub(r"^(License-File: LICENSE)$", "\n".join([r"\1", *lines]), metadata, flags=re.MULTILINE)
    put(f"{info_folder}/METADATA", metadata.encode())
    for name in [name for name in entries if "/sboms/" in name and name.endswith(".json")]:
        put(name, json.dumps(with_licences(json.loads(entries[name][1]), libraries), indent=1).encode())

    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    for name, (_, data) in entries.items():
        if name != f"{info_folder}/RECORD" and not name.endswith("/"):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.writerow([name, f"sha256={digest}", len(data)])
    rows.writerow([f"{info_folder}/RECORD", "", ""])
    put(f"{info_folder}/RECORD", record.getvalue().encode())
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, data in entries.values():
            archive.writestr(info, data)


def with_licences(bom, libraries):
    """A CycloneDX SBOM in which every library of the table is a component with its licence."""
    components = bom.setdefault("components", [])
    known = {component["name"]: component for component in components}
    for name in sorted({name_of(library) for library in libraries}):
        packages = [component for component in components if owns(component, name)] or [
            known.setdefault(name, {"type": "library", "name": name})
        ]
        for component in packages:
            component["licenses"] = [{"expression": LIBRARIES[name]}]
            if component not in components:
                components.append(component)
    return bom


def owns(component, library):
    """Whether a component of the SBOM, named as Debian names its packages, is this library's: libtiff6 is
    libtiff's."""
    stem = {
        "libz": "zlib",
        "libgcc_s": "libgcc-s",
        "libjpeg": "libjpeg62",
        "libblosc": "libblosc",
        "libpng16": "libpng16",
    }.get(library, library)
    return re.fullmatch(rf"{re.escape(stem)}[-\d.v+a-z]*", component["name"]) is not None


if __name__ == "__main__":
    if len(sys.argv) > 3 and sys.argv[1] == "notices":
        notices(sys.argv[2], sys.argv[3:])
    elif len(sys.argv) == 3 and sys.argv[1] == "wheel":
        wheel(sys.argv[2])
    else:
        sys.exit(__doc__)
