"""`python -m wlhn`: the command, for whom the console script is not on the path."""

from wlhn.cli import main

if __name__ == "__main__":
    main()
