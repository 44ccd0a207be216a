/** What the command's exit code says; where several apply, the highest is told. */
export const exitCodes = {
  ok: 0,
  outOfDate: 1,
  usage: 2,
  refused: 3,
  unreachable: 4,
} as const

/** The exit codes as `--help` explains them. */
export const exitCodeHelp = `
Exit codes:
  0  in sync, or nothing to complain of
  1  --check: something differs, or lint found an error; lint: an error; --wait: not live in time;
     a card that comes from elsewhere did not come
  2  the command was called wrongly
  3  a file is bad, or the host refused it (invalid, taken host name, changed by somebody else)
  4  the host cannot be reached, or does not accept the token`
