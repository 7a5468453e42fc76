"""What the sources of the proof may include, and how they are compiled."""

from __future__ import annotations

import re
from pathlib import Path

NATIVE = Path(__file__).parents[2] / "native"


def includes(path: Path) -> set[Path]:
    """The files of native/ that a file includes, itself and those that they include among them."""
    found, waiting = set(), [path]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        names = re.findall(r'^\s*#\s*include\s+"([^"]+)"', file.read_text(), flags=re.MULTILINE)
        for name in names:
            assert (NATIVE / name).is_file(), f"{file} includes {name}, which is not under native/"
            waiting.append(NATIVE / name)
    return found


def test_the_proof_includes_nothing_of_a_solver():
    sources = [path for path in (NATIVE / "proof").iterdir() if path.suffix in (".cpp", ".hpp")]
    assert len(sources) >= 8
    for source in sources:
        folders = {path.relative_to(NATIVE).parts[0] for path in includes(source)}
        assert folders <= {"proof", "core", "kernels"}, f"{source.name} includes files of {sorted(folders)}"


def test_the_proof_is_compiled_without_contraction():
    """Neither where it is compiled once nor where it is compiled for several instruction sets, whose other files may contract."""
    flags = (NATIVE.parent / "CMakeLists.txt").read_text()
    assert re.search(r"target_compile_options\(gapless_core PRIVATE [^)]*-ffp-contract=off", flags)
    assert re.search(r"list\(FILTER proof_sources INCLUDE REGEX \"/native/proof/\"\)", flags)
    assert re.search(
        r"set_source_files_properties\(\$\{proof_sources\} PROPERTIES COMPILE_OPTIONS -ffp-contract=off\)", flags
    )
