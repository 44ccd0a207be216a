import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { buildPackage } from '../../cli/build.ts'

const execute = promisify(execFile)

/** The package.json of the built package. */
export type PackageJson = { version: string; engines: { node: string }; dependencies: Record<string, string> }

/**
 * Builds and packs `sync-card` in an empty folder and installs the tarball with npm in `owner/`, without a network: npm links the
 * dependencies that the package declares, and no others, to those of this repository.
 */
export const installPackage = async (folder: string): Promise<{ owner: string; packageJson: PackageJson }> => {
  const [built, owner] = [join(folder, 'package'), join(folder, 'owner')]
  await buildPackage(built)
  const packageJson = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8')) as PackageJson
  await npm(['pack', '--pack-destination', folder], built)
  const links = Object.keys(packageJson.dependencies).map(name => [name, `file:${resolve('node_modules', name)}`])
  const dependencies = { 'sync-card': `file:../sync-card-${packageJson.version}.tgz`, ...Object.fromEntries(links) }
  mkdirSync(owner)
  writeFileSync(join(owner, 'package.json'), JSON.stringify({ name: 'owner', private: true, dependencies }))
  // With an empty cache, nothing comes from another installation. Scripts would build the linked packages, as if they were source.
  await npm(['install', '--offline', '--ignore-scripts', '--no-audit', '--cache', join(folder, 'cache')], owner)
  return { owner, packageJson }
}

const npm = (args: string[], cwd: string) => execute('npm', args, { cwd })
