"""`python -m tres` is `tres`."""

from tres.cli import main

if __name__ == "__main__":
    main()
