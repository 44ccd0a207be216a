import { existsSync } from 'node:fs'

/** The first one has nothing for windows, and opens a page in a third of the time. */
const programs = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The Chromium of this machine: the one that `CHROME_PATH` names, else that of a package. Undefined for none. */
export const executablePath = [process.env.CHROME_PATH ?? '', ...programs.map(name => `/usr/bin/${name}`)].find(path =>
  existsSync(path),
)
