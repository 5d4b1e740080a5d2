"""The public face: the Python API and the command line, which only connect the parts below."""
