import { clientKey, countRequest } from '../auth/index.ts'
import type { Compiled } from '../card/compile/index.ts'
import type { Note } from '../card/model/index.ts'
import { config } from '../config.ts'
import { findIdentityErrors } from '../gateway/upstream/index.ts'
import { type Handler, jsonResponse, readJson } from '../http/index.ts'

/** `POST /lint`: returns the report on a card or manifest; with `?representations=true`, also what each client would get. Stores nothing. */
export const postLint: Handler = async (request, env) => {
  await countRequest(env.LINT_LIMIT, clientKey(request), 'Too many cards to lint from your address.')
  const document = await readJson(request)
  const [{ compile }, { declaredId }] = await Promise.all([
    import('../card/compile/index.ts'),
    import('../card/manifest/manifest.ts'),
  ])
  const id = declaredId(document) ?? 'agent'
  const result = compile(document, {
    id,
    publicOrigin: config(env).publicOrigin,
    requestOrigin: new URL(request.url).origin,
  })
  const errors = 'errors' in result ? result.errors : await findIdentityErrors(result.compiled.manifest, env)
  if ('errors' in result || errors.length > 0) return jsonResponse({ valid: false, errors })
  const { report, secrets, documents: representations } = result.compiled
  const valid = secrets.length === 0
  const isShown = valid && new URL(request.url).searchParams.get('representations') === 'true'
  const signatures = [...report.signatures, ...(await describeHostSigning(result.compiled, env))]
  return jsonResponse({ valid, errors: secrets, ...report, signatures, ...(isShown && { representations }) })
}

/** Describes how a host with a key would sign the card; nothing for a host without one. */
const describeHostSigning = async ({ manifest, origin, documents }: Compiled, env: Env): Promise<Note[]> => {
  const { createSigning, describeSigning } = await import('../signing/card-signer.ts')
  const signing = await createSigning({ manifest, origin }, {}, env)
  return signing.signers === '' ? [] : describeSigning(signing, documents)
}
