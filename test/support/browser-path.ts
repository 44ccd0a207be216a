import { existsSync } from 'node:fs'

const packages = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'].map(
  name => `/usr/bin/${name}`,
)

/** The Chromium of this machine: the one that `CHROME_PATH` names, else that of a package. Undefined for none. */
export const executablePath = [process.env.CHROME_PATH ?? '', ...packages].find(path => existsSync(path))
