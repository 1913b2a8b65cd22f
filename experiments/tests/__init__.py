"""A package, so that its conftest and that of the library's tests are two modules in one run of pytest."""
