import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseEnv } from 'node:util'
import { parse } from 'yaml'

/** A step of a composite action, as far as `action.yml` uses them. */
type Step = { name: string; with?: Record<string, string>; env?: Record<string, string> } & Partial<
  Record<'id' | 'if' | 'uses' | 'run', string>
>

export type Action = {
  inputs: Record<string, { description: string; default?: string }>
  outputs: Record<string, { description: string; value: string }>
  runs: { using: string; steps: Step[] }
}

/** The action of this repository. */
export const action: Action = parse(readFileSync('action.yml', 'utf8'))

/** What GitHub knows of an event, as the contexts of expressions have it. */
export type Event = { name: string; ref?: string; number?: number; head?: string | null }

export type ActionResult = {
  /** The name of the step that failed. */
  failed?: string
  /** The names of the steps that ran. */
  steps: string[]
  log: string
  summary: string
  outputs: Record<string, string>
  /** The inputs of other actions that were used. */
  used: Record<string, string>[]
}

/** The repository whose cards the action handles. */
const REPOSITORY = 'owner/cards'

const ghScript = `#!${process.execPath}
// Does what gh does with the comments of one pull request, which are in a file. A token without permission may only read.
const { readFileSync, writeFileSync } = require('node:fs')
const { GH_TOKEN, GH_COMMENTS: file, GH_MAY_WRITE } = process.env
const args = process.argv.slice(2)
const comments = JSON.parse(readFileSync(file, 'utf8'))
if (GH_TOKEN !== 'the-job-token' || args.shift() !== 'api') process.exit(4)
const method = args.includes('--method') ? args[args.indexOf('--method') + 1] : 'GET'
const path = args.find(arg => arg.startsWith('repos/'))
if (method === 'GET') {
  if (path !== 'repos/${REPOSITORY}/issues/7/comments' || args[args.indexOf('--jq') + 1] !== '.[]') process.exit(1)
  for (const comment of comments) console.log(JSON.stringify(comment))
} else {
  if (GH_MAY_WRITE !== 'true') process.exit(1)
  const body = readFileSync(args[args.indexOf('--field') + 1].replace('body=@', ''), 'utf8')
  const known = comments.find(({ id }) => path === 'repos/${REPOSITORY}/issues/comments/' + id)
  if (method === 'PATCH' && known) known.body = body
  else if (method === 'POST' && path === 'repos/${REPOSITORY}/issues/7/comments')
    comments.push({ id: 100 + comments.length, body, user: { type: 'Bot' } })
  else process.exit(1)
  writeFileSync(file, JSON.stringify(comments))
}
`

/** Accepts one installation: that of the dependencies that the action's own lock file pins, in its own checkout. */
const npmScript = `#!/bin/sh
[ "$*" = 'ci --omit=dev --ignore-scripts --no-audit --no-fund' ] && cd "$GITHUB_ACTION_PATH" && mkdir node_modules
`

/** A comment on the pull request. */
export type Comment = { id: number; body: string; user: { type: string } }

/** Runs the steps of `action.yml` as a runner of GitHub does, in the checkout of an owner. */
export class ActionRunner {
  readonly folder: string
  readonly workspace: string
  readonly #actionPath: string
  #runs = 0

  /** `cli` is the folder of that name in the checkout of the action. */
  constructor(folder: string, cli: string) {
    this.folder = folder
    this.workspace = join(folder, 'workspace')
    this.#actionPath = join(folder, 'action')
    mkdirSync(join(folder, 'bin'), { recursive: true })
    mkdirSync(this.workspace)
    mkdirSync(this.#actionPath)
    symlinkSync(cli, join(this.#actionPath, 'cli'))
    for (const [name, text] of Object.entries({ gh: ghScript, npm: npmScript })) {
      writeFileSync(join(folder, 'bin', name), text)
      chmodSync(join(folder, 'bin', name), 0o755)
    }
    symlinkSync(process.execPath, join(folder, 'bin', 'node'))
    this.comments = []
  }

  get comments(): Comment[] {
    return JSON.parse(readFileSync(join(this.folder, 'comments.json'), 'utf8'))
  }

  set comments(comments: Comment[]) {
    writeFileSync(join(this.folder, 'comments.json'), JSON.stringify(comments))
  }

  write(files: Record<string, string>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.workspace, name)), { recursive: true })
      writeFileSync(join(this.workspace, name), text)
    }
  }

  /** Runs the action. `mayWrite`: whether the token of the job may comment; `plansOnly`: runs only what decides about the steps. */
  async run(
    event: Event,
    given: Record<string, string> = {},
    { mayWrite = true, plansOnly = false } = {},
  ): Promise<ActionResult> {
    const temp = join(this.folder, `run-${this.#runs++}`)
    mkdirSync(temp)
    const defaults = Object.entries(action.inputs).map(([name, { default: value = '' }]) => [name, value])
    const contexts = new Map<string, string>([
      ...Object.entries(githubContext(event)),
      ...[...defaults, ...Object.entries(given)].map(([name, value]): [string, string] => [
        `inputs.${name}`,
        `${value}`,
      ]),
      ['inputs.github-token', 'the-job-token'],
    ])
    const env = {
      PATH: `${join(this.folder, 'bin')}:/usr/bin:/bin`,
      GITHUB_REPOSITORY: REPOSITORY,
      RUNNER_TEMP: temp,
      GITHUB_STEP_SUMMARY: join(temp, 'summary'),
      GH_COMMENTS: join(this.folder, 'comments.json'),
      GH_MAY_WRITE: `${mayWrite}`,
      GITHUB_ACTION_PATH: this.#actionPath,
    }
    const result: ActionResult = { steps: [], log: '', summary: '', outputs: {}, used: [] }
    for (const step of action.runs.steps) {
      if (step.if !== undefined && !isTrue(step.if, contexts)) continue
      result.steps.push(step.name)
      if (step.uses !== undefined) {
        result.used.push(expandAll(step.with ?? {}, contexts))
        continue
      }
      if (plansOnly && step.id !== 'plan') continue
      const output = join(temp, `output-${result.steps.length}`)
      const run = await this.#bash(step.run ?? '', {
        ...env,
        ...expandAll(step.env ?? {}, contexts),
        GITHUB_OUTPUT: output,
      })
      result.log += run.log
      for (const [name, value] of readOutputs(output)) contexts.set(`steps.${step.id}.outputs.${name}`, `${value}`)
      if (run.code !== 0) {
        result.failed = step.name
        break
      }
    }
    if (existsSync(env.GITHUB_STEP_SUMMARY)) result.summary = readFileSync(env.GITHUB_STEP_SUMMARY, 'utf8')
    result.outputs = expandAll(
      Object.fromEntries(Object.entries(action.outputs).map(([name, { value }]) => [name, value])),
      contexts,
    )
    return result
  }

  /** Runs a script with the options that GitHub uses for `shell: bash`. */
  #bash(script: string, env: Record<string, string>): Promise<{ code: number; log: string }> {
    const args = ['--noprofile', '--norc', '-e', '-o', 'pipefail', '-c', script]
    return new Promise(resolve => {
      // The Worker's variables are declared as if every process had them.
      execFile('bash', args, { cwd: this.workspace, env: env as never }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), log: stdout + stderr }),
      )
    })
  }
}

const githubContext = ({ name, ref = 'refs/heads/main', number, head }: Event): Record<string, string> => ({
  'github.event_name': name,
  'github.ref': ref,
  'github.token': 'the-job-token',
  'github.event.repository.default_branch': 'main',
  ...(number !== undefined && { 'github.event.pull_request.number': `${number}` }),
  // The repository of a fork may be gone.
  ...(head !== null && number !== undefined && { 'github.event.pull_request.head.repo.full_name': head ?? REPOSITORY }),
})

/** Replaces expressions, of which only names are supported. What is unknown is empty, as it is on GitHub. */
const expandAll = (values: Record<string, string>, contexts: ReadonlyMap<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      value.replace(/\$\{\{ ([\w.-]+) \}\}/g, (_, key: string) => contexts.get(key) ?? ''),
    ]),
  )

/** Evaluates comparisons with texts that are joined by `&&`. */
const isTrue = (condition: string, contexts: ReadonlyMap<string, string>): boolean =>
  condition.split(' && ').every(comparison => {
    const [, name, operator, text] = /^([\w.-]+) (==|!=) '([^']*)'$/.exec(comparison) ?? []
    if (name === undefined) throw new Error(`The runner of the tests does not understand: ${comparison}`)
    return ((contexts.get(name) ?? '') === text) === (operator === '==')
  })

const readOutputs = (file: string): [name: string, value: string | undefined][] =>
  existsSync(file) ? Object.entries(parseEnv(readFileSync(file, 'utf8'))) : []
