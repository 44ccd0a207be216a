import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { UsageError } from '../usage-error.ts'
import { defaultsNames } from './defaults-file.ts'
import { cardExtensions } from './source.ts'

/** The folder that is read where no file is named. */
export const cardsFolder = 'cards'

/** The files that are meant: those named, and those of the folders named. Never a folder's defaults, which is no card. */
export const cardFiles = (named: readonly string[]): string[] => {
  const files = (named.length > 0 ? named : [cardsFolder]).flatMap(path => {
    if (!existsSync(path)) throw new UsageError(named.length > 0 ? `There is no ${path}.` : noFolder)
    return statSync(path).isDirectory() ? inFolder(path) : [path]
  })
  return [...new Set(files)].filter(file => !defaultsNames.includes(basename(file)))
}

/** Whether only folders are meant, and with them everything that should be registered. */
export const areFolders = (named: readonly string[]): boolean =>
  named.every(path => existsSync(path) && statSync(path).isDirectory())

const inFolder = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !/^(?:\.|README\b)/i.test(name) && cardExtensions.includes(extname(name).toLowerCase()))
    .filter(entry => !entry.isDirectory())
    .map(({ name }) => join(folder, name))
    .sort()

/** What to do where there are no cards. */
export const howToStart = `Make one: ${cardsFolder}/my-agent.json with a name, a description and a url is enough.`

const noFolder = `There is no folder ${cardsFolder} here. ${howToStart}`
