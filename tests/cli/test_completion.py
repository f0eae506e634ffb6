"""Completion in bash, zsh and fish: each script is called as its shell calls it, and all three offer the
same."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess

import pytest

from conftest import BINARY

COMMANDS = {
    "finish",
    "help",
    "preview",
    "report",
    "run",
    "plan",
    "transpose",
    "gemm",
    "info",
    "stats",
    "compare",
    "generate",
    "devices",
    "bench",
    "stages",
    "completion",
}
TYPES = ["f32", "f64", "i16", "u16", "u8"]
FILES = ["a=b.tif", "baboon.tif", "box.npy", "folder/"]


def folder_for(sepconv, shell):
    """Returns a folder with a few files, and in .bin the program under test as `sepconv`."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    for name in FILES:
        (sepconv.folder / name).mkdir(exist_ok=True) if name.endswith("/") else (
            sepconv.folder / name
        ).touch()
    bin_folder = sepconv.folder / ".bin"
    bin_folder.mkdir(exist_ok=True)
    if not (bin_folder / "sepconv").exists():
        (bin_folder / "sepconv").symlink_to(BINARY)
    return bin_folder


def in_shell(sepconv, command, script):
    """The output of a script in a shell."""
    bin_folder = folder_for(sepconv, command[0])
    process = subprocess.run(
        [*command, f"export PATH='{bin_folder}':\"$PATH\"\n{script}"],
        cwd=sepconv.folder,
        capture_output=True,
        text=True,
    )
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout.splitlines()


def bash(sepconv, line):
    """Completes with words split as by bash; FILES if the script leaves the completion of file names to
    bash."""
    words = [word for word in re.split(r"([:=])|\s+", line) if word]
    if line.endswith(" "):
        words.append("")
    quoted = " ".join("'" + word + "'" for word in words)
    script = (
        f'source <(sepconv completion bash); default=FILES; compopt() {{ default="$*"; }}\n'
        f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; COMP_LINE='{line}'; COMP_POINT={len(line)}; _sepconv\n"
        'printf \'%s\\n\' "${COMPREPLY[@]}"; echo "$default"'
    )
    *found, default = in_shell(sepconv, ["bash", "--norc", "-c"], script)
    found = [word for word in found if word]
    if default == "-o dirnames +o default":
        return "FOLDERS"
    if default == "FILES":
        assert not found
        return "FILES"
    # The part of the word that readline keeps is prepended.
    word = line.split(" ")[-1]
    return sorted(re.match(r"(.*[:=])?", word).group(0) + item for item in found)


def zsh(sepconv, line):
    """Replaces zsh's completion functions, which need an editor, by functions that print."""
    *words, word = line.split(" ")
    script = (
        "compdef() { }; _files() { [[ $1 == -/ ]] && print FOLDERS || print FILES }; compset() { }\n"
        "compadd() { while [[ $1 != -- ]]; do shift; done; shift; for one; do [[ $one == $PREFIX* ]] && print -r -- $one; done; true }\n"
        f"source <(sepconv completion zsh); words=({' '.join(words)} '{word}'); CURRENT={len(words) + 1}; PREFIX='{word}'; _sepconv"
    )
    found = in_shell(sepconv, ["zsh", "-f", "-c"], script)
    return found[0] if found in (["FILES"], ["FOLDERS"]) else sorted(found)


def fish(sepconv, line):
    """Completes with fish's engine, which lists the files itself."""
    found = in_shell(
        sepconv, ["fish", "--no-config", "-c"], f"sepconv completion fish | source; complete -C '{line}'"
    )
    return sorted(item.split("\t")[0] for item in found)


SHELLS = pytest.mark.parametrize("shell", [bash, zsh, fish], ids=["bash", "zsh", "fish"])


@SHELLS
def test_words(sepconv, shell):
    assert set(shell(sepconv, "sepconv ")) == COMMANDS
    assert shell(sepconv, "sepconv pl") == ["plan"]
    assert shell(sepconv, "sepconv bench ") == ["conv", "gemm", "run", "transpose"]
    assert shell(sepconv, "sepconv run a b --max-m") == ["--max-memory"]
    assert shell(sepconv, "sepconv bench conv --no-") == ["--no-cpu", "--no-tiled"]
    assert shell(sepconv, "sepconv stages gau") == ["gaussian", "gaussian_laplace"]
    assert shell(sepconv, "sepconv help tr") == ["transpose"]
    assert shell(sepconv, "sepconv help bench ge") == ["gemm"]
    assert shell(sepconv, "sepconv help run ") == []
    assert shell(sepconv, "sepconv completion z") == ["zsh"]


@SHELLS
@pytest.mark.parametrize("command", ["run", "plan"])
def test_stages_from_the_third_place_on(sepconv, shell, command):
    for line in ("b", "in.tif b", "--tile 64 b", "--planar in.tif b", "in.tif --device cpu b"):
        found = shell(sepconv, f"sepconv {command} {line}")
        assert found in ("FILES", ["baboon.tif", "box.npy"]), line
    stages = ["binomial", "blackhat", "blend", "box"]
    for line in (
        "in.tif out.tif b",
        "in.tif out.tif abs b",
        "in.tif --threads 2 out.tif b",
        "--device=cpu in.tif out.tif --planar abs b",
    ):
        assert shell(sepconv, f"sepconv {command} {line}") == stages, line


@SHELLS
def test_stages_of_a_stages_own_chain(sepconv, shell):
    answer = sepconv(
        "completion", "bash", "--", "run", "a", "b", "add:chain=[add:chain=[abs | box:radius=1] | bin"
    ).stdout
    assert (
        "add:chain=[add:chain=[abs | box:radius=1] | binomial -- " in answer and len(answer.splitlines()) == 2
    )
    for begun in ("add:chain=", "blend:alpha=0.5,chain=", "add:chain=max:chain="):
        assert shell(sepconv, f"sepconv run in.tif out.tif {begun}bin") == [f"{begun}binomial"]
        assert shell(sepconv, f"sepconv run in.tif out.tif {begun}percentile:p") == [
            f"{begun}percentile:percent="
        ]
    for begun in (
        "blend:chain=[gaussian:sigma=2],",
        "blend:chain=[add:chain=[box:radius=1,border=wrap],alpha=1],",
        "blend:chain=gaussian:sigma=2,",
    ):
        assert shell(sepconv, f"sepconv run in.tif out.tif {begun}al") == [f"{begun}alpha="]
    assert shell(sepconv, "sepconv run in.tif out.tif blend:chain=[gaussian:sigma=2,tr") == [
        "blend:chain=[gaussian:sigma=2,truncate="
    ]
    assert shell(sepconv, "sepconv run in.tif out.tif blend:chain=[gaussian:sigma=2]") == []
    assert shell(sepconv, "sepconv run in.tif out.tif add:file=b") in (
        "FILES",
        ["add:file=baboon.tif", "add:file=box.npy"],
    )


@SHELLS
def test_stages_behind_the_folder(sepconv, shell):
    """--output-dir ends the images, for any number of them; - is an image."""
    for line in (
        "run a.tif -o out b",
        "run a.tif --output-dir out abs b",
        "run a.tif b.tif c.tif d.tif -q -o out b",
        "run - - b",
        "preview in.tif b",
        "preview in.tif -q -o view.png b",
    ):
        assert shell(sepconv, f"sepconv {line}") == ["binomial", "blackhat", "blend", "box"], line
    for option in ("-o", "--output-dir"):
        assert shell(sepconv, f"sepconv run a.tif {option} f") in ("FOLDERS", ["folder/"])
    assert shell(sepconv, "sepconv preview a.tif -o ba") in ("FILES", ["baboon.tif"])
    assert shell(sepconv, "sepconv run - - --format r") == ["raw"]


@SHELLS
def test_keys(sepconv, shell):
    assert "local_normalize:least=3,min_std=" not in shell(
        sepconv, "sepconv run a b local_normalize:least=3,"
    )
    assert shell(sepconv, "sepconv run a b log:truncate=4,ra") == [
        "log:truncate=4,radius=",
        "log:truncate=4,radius_y=",
        "log:truncate=4,radius_z=",
    ]
    assert shell(sepconv, "sepconv run a b gaussian:si") == [
        "gaussian:sigma=",
        "gaussian:sigma_y=",
        "gaussian:sigma_z=",
    ]
    assert shell(sepconv, "sepconv run a b gaussian:sigma=2,trunc") == ["gaussian:sigma=2,truncate="]
    assert shell(sepconv, "sepconv run a b gaussian:sigma=2,s") == [
        "gaussian:sigma=2,sigma_y=",
        "gaussian:sigma=2,sigma_z=",
    ]
    assert shell(sepconv, "sepconv run a b gaussian:sigma=2,sigma_y=3,s") == [
        "gaussian:sigma=2,sigma_y=3,sigma_z="
    ]
    assert shell(sepconv, "sepconv run a b gaussian:sigma=") == []
    assert shell(sepconv, "sepconv run a b sobel:axis=") == ["sobel:axis=x", "sobel:axis=y", "sobel:axis=z"]
    assert shell(sepconv, "sepconv run a b sobel:axis=x,border=re") == [
        f"sobel:axis=x,border={one}" for one in ("reflect", "reflect101", "replicate")
    ]
    assert shell(sepconv, "sepconv run a b sobel:axis=x,flip=t") == ["sobel:axis=x,flip=true"]
    assert shell(sepconv, "sepconv run a b mix_channels:file=bo") in ("FILES", ["mix_channels:file=box.npy"])


@SHELLS
def test_values_of_options(sepconv, shell):
    for command in ("run a b", "gemm a b c", "bench run", "bench gemm"):
        assert shell(sepconv, f"sepconv {command} --device ") == [
            "auto",
            "cpu",
            "cpu+cuda:0",
            "cuda",
            "cuda:0",
        ]
    assert shell(sepconv, "sepconv run a b --device=cu") == ["--device=cuda", "--device=cuda:0"]
    assert shell(sepconv, "sepconv run a b --compress d") == ["deflate", "deflate:fast"]
    assert shell(sepconv, "sepconv run a b --arithmetic ") == ["f32", "f64"]
    assert shell(sepconv, "sepconv generate a --pattern n") == ["natural", "noise"]
    assert shell(sepconv, "sepconv generate a --type ") == TYPES
    assert shell(sepconv, "sepconv bench conv --type f32,") == ["f32," + name for name in TYPES]
    assert shell(sepconv, "sepconv run a b --axes ") == ["yx", "yxc", "zyx"]
    for option in ("--max-memory", "--threads", "--tile", "--raw"):
        assert shell(sepconv, f"sepconv run a b {option} ") == []
    for line in ("run a b --trace ba", "gemm a b c --c ba", "bench run --trace ba", "compare a ba"):
        assert shell(sepconv, f"sepconv {line}") in ("FILES", ["baboon.tif"]), line
    assert shell(sepconv, "sepconv run a b --trace=ba") in ("FILES", ["--trace=baboon.tif"])
    assert shell(sepconv, "sepconv bench run --file f") in ("FOLDERS", ["folder/"])
    assert shell(sepconv, "sepconv compare a b ") == []


def test_no_option_with_a_choice_or_a_file_is_forgotten(sepconv):
    """The completion of an option's value corresponds to its help."""
    for command in [*COMMANDS - {"bench"}, "bench conv", "bench gemm", "bench run", "bench transpose"]:
        help_text = sepconv(*command.split(), "--help").stdout
        for option, value in re.findall(
            r"^  (?:-\w,)?(--[\w-]+) (?!Excludes:|Needs:)(\S+)", help_text, re.MULTILINE
        ):
            answer = sepconv("completion", "bash", "--", *command.split(), option, "").stdout.splitlines()
            words = (
                []
                if re.search("[A-Z]", value.split("[")[0])
                else [word for word in value.split("[")[0].split("|") if word != "..."]
            )
            assert answer[0] == {"FILE": "files", "DIR": "folders"}.get(value, "words"), option
            assert [line.split(" -- ")[0] for line in answer[1:]] == words, option


@pytest.mark.parametrize(
    "shell, check", [("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "-n"])]
)
def test_completion_scripts_are_valid(sepconv, shell, check):
    script = sepconv("completion", shell).stdout
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    process = subprocess.run(check, input=script, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr


def test_words_with_blanks_and_a_cursor_in_the_middle(sepconv):
    """bash: quoted names are one word, and text after the cursor does not count."""
    script = (
        "source <(sepconv completion bash); compopt() { :; }\n"
        "COMP_WORDS=(sepconv run \"'my file.tif'\" out.tif gauss); COMP_CWORD=4\n"
        "COMP_LINE=\"sepconv run 'my file.tif' out.tif gauss\"; COMP_POINT=35; _sepconv; printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    assert in_shell(sepconv, ["bash", "--norc", "-c"], script) == [
        "gaussian",
        "gradient",
        "gaussian_laplace",
        "gemm",
        "guided",
    ]


@pytest.mark.parametrize(
    "command, prepare",
    [
        (["bash", "--norc", "--noprofile", "-i"], "source <(sepconv completion bash)"),
        (["zsh", "-f", "-i"], "autoload -U compinit; compinit -D -u; source <(sepconv completion zsh)"),
        (["fish", "--no-config", "-i"], "sepconv completion fish | source"),
    ],
    ids=["bash", "zsh", "fish"],
)
def test_at_a_terminal(sepconv, command, prepare):
    """Keys are typed into a shell in a separate terminal; then the words of the line are printed."""
    bin_folder = folder_for(sepconv, command[0])
    shell, terminal = pty.fork()
    if shell == 0:
        os.chdir(sepconv.folder)
        os.execvpe(
            command[0],
            command,
            {
                "PATH": f"{bin_folder}:{os.environ['PATH']}",
                "HOME": str(sepconv.folder),
                "TERM": "xterm",
                "LC_ALL": "C.UTF-8",
            },
        )
    line = "sepconv run ba\tout.tif sobel:ax\tx,border=w\t'add:chain=[abs | bino\t--compress l\t--trace ba\t"
    os.write(terminal, f"{prepare}\r{line}\x01printf '<%s>' \rexit\r".encode())
    messages = b""
    try:
        while select.select([terminal], [], [], 120)[0]:
            messages += os.read(terminal, 4096)
    except OSError:  # the shell has ended
        pass
    os.kill(shell, signal.SIGKILL)
    os.waitpid(shell, 0)
    os.close(terminal)
    assert (
        b"<sepconv><run><baboon.tif><out.tif><sobel:axis=x,border=wrap><add:chain=[abs | binomial><--compress><lzw><--trace><baboon.tif>"
        in messages
    ), messages.decode()
