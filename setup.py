"""Notebooks, sample data and ragbench.toml lie beside the package, and travel in it."""

from setuptools import find_packages, setup

SHIPPED = {
    "ragbench.shipped": ".",
    "ragbench.shipped.notebooks": "notebooks",
    "ragbench.shipped.data.campus": "data/campus",
}

setup(
    script_name="setup.py",  # whoever runs this: it is no module of the folder that it lies in
    packages=[*find_packages(include=["ragbench*"]), *SHIPPED],
    package_dir=SHIPPED,
    package_data={
        "ragbench": ["**/*"],
        "ragbench.shipped": ["ragbench.toml"],
        "ragbench.shipped.notebooks": ["*.ipynb", "*.csv"],
        "ragbench.shipped.data.campus": ["*"],
    },
    exclude_package_data={"": ["*.pyc"]},
)
