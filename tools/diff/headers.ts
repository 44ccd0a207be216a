import type { WireVersion } from '../../src/card/model/versions.ts'
import type { Random } from '../fuzz/requests.ts'

/** Headers in the order in which they are sent; a name may be there several times. */
export type Headers = [name: string, value: string][]

/** The JWTs of the issuer, by what they are: their claims, beside valid ones, and their header. */
export const jwts: Readonly<
  Record<string, { claims?: Record<string, unknown>; header?: { kid?: string; typ?: string } }>
> = {
  valid: {},
  partner: { claims: { scope: 'cards:partner other' } },
  expired: { claims: { exp: 1_700_000_000 } },
  'other-audience': { claims: { aud: 'other' } },
  'no-subject': { claims: { sub: undefined } },
  'other-issuer': { claims: { iss: 'https://issuer.example' } },
  'unknown-key': { header: { kid: 'unknown' } },
  typed: { header: { typ: 'at+jwt' } },
}

/** Credentials, each as often as it is listed. `%%token:caller%%` becomes the token of the host that has this name. */
const credentialsOf: readonly ((random: Random) => Headers)[] = [
  ...Array<() => Headers>(5).fill(() => [['Authorization', 'Bearer %%token:caller%%']]),
  ...Array<(random: Random) => Headers>(4).fill(random => [
    ['Authorization', `Bearer %%token:${random.pick(['reader', 'partner', 'staff', 'other', 'writer', 'admin'])}%%`],
  ]),
  ...Array<(random: Random) => Headers>(4).fill(random => [
    ['Authorization', `Bearer %%jwt:${random.pick(['valid', 'valid', 'valid', 'partner', ...Object.keys(jwts)])}%%`],
  ]),
  random => [
    [
      'Authorization',
      random.pick([
        'Bearer abc',
        'Bearer',
        'Bearer ',
        'bearer %%token:caller%%',
        'BEARER  %%token:partner%% ',
        'Token abc',
      ]),
    ],
  ],
  random => [
    [
      'Authorization',
      random.pick([
        'Basic YTpi',
        'Basic',
        'Bearer a b',
        'Bearer abc, Basic YTpi',
        'Negotiate',
        'Bearer a.b.c',
        'Bearer eyJhbGciOiJub25lIn0.e30.',
      ]),
    ],
  ],
  () => [['Authorization', 'Bearer cc_aaaaaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa']],
  random => [
    [
      'Authorization',
      random.pick([
        'Bearer cc_abc',
        'cc_aaaaaaaaaaaa_b',
        'Basic %%token:caller%%',
        'Bearer %%token:caller%%x',
        'Bearer x%%token:caller%%',
      ]),
    ],
  ],
  () => [
    ['Authorization', 'Bearer %%token:caller%%'],
    ['Authorization', 'Bearer %%token:partner%%'],
  ],
  () => [['X-API-Key', 'the-key-of-the-caller']],
  random => [['X-API-Key', random.pick(['%%token:caller%%', 'Bearer %%token:partner%%', 'cc_abc', '%%token:admin%%'])]],
  () => [
    ['Authorization', 'Bearer of-the-agent'],
    ['X-API-Key', '%%token:caller%%'],
  ],
  () => [
    ['Authorization', 'Bearer %%token:caller%%'],
    ['X-API-Key', 'the-key-of-the-caller'],
  ],
]

/** The span of every caller that has a trace. */
export const CALLER_SPAN = 'b7ad6b7169203331'

const traceparents = [
  ...[`00-0af7651916cd43dd8448eb211c80319c-${CALLER_SPAN}-01`, `00-0af7651916cd43dd8448eb211c80319c-${CALLER_SPAN}-00`],
  ...[
    `01-0af7651916cd43dd8448eb211c80319c-${CALLER_SPAN}-ff-more`,
    `00-00000000000000000000000000000000-${CALLER_SPAN}-01`,
  ],
  ...[
    `ff-0af7651916cd43dd8448eb211c80319c-${CALLER_SPAN}-01`,
    `00-0AF7651916CD43DD8448EB211C80319C-${CALLER_SPAN}-01`,
    '',
    'a',
  ],
]

/** Other headers of a call, each as often as it is listed. */
const otherHeaders: readonly ((random: Random) => Headers)[] = [
  ...Array<(random: Random) => Headers>(3).fill(random => [
    ['traceparent', random.pick(traceparents)],
    ...(random.chance(0.5)
      ? [['tracestate', random.pick(['a=b', 'a=b,c=d', '', '%%token:caller%%'])] as [string, string]]
      : []),
  ]),
  random => [
    [
      'Via',
      random.pick([
        '1.1 a.example',
        '1.1 a.example (comment), HTTP/2 b',
        '1.1 plain-x00.cards.example',
        ', ',
        'x'.repeat(300),
      ]),
    ],
  ],
  random => [
    ['Connection', random.pick(['keep-alive, traceparent', 'X-API-Key', 'Authorization', 'close'])],
    ['traceparent', traceparents[0] ?? ''],
  ],
  ...Array<(random: Random) => Headers>(2).fill(random => [
    [
      'Prefer',
      random.pick([
        'server-timing',
        'server-timing',
        'respond-async, Server-Timing',
        'a="server-timing"',
        'server-timing=1',
      ]),
    ],
  ]),
  ...Array<(random: Random) => Headers>(3).fill(random => [
    [
      'A2A-Extensions',
      random.pick([
        'https://a.example/1',
        'https://a.example/1, https://a.example/2',
        'a,,b',
        'https://a.example/2,https://a.example/2',
        'x'.repeat(200),
      ]),
    ],
  ]),
  ...Array<(random: Random) => Headers>(3).fill(() => [['A2A-Extensions', 'https://a.example/1, https://a.example/2']]),
  random => [['X-A2A-Extensions', random.pick(['https://a.example/1', 'https://a.example/1,https://a.example/2', ''])]],
  random => [['Accept', random.pick(['application/json', 'text/event-stream', '*/*', 'text/html', ''])]],
  random => [['Accept-Encoding', random.pick(['gzip', 'br', 'identity', '*;q=0'])]],
  () => [['Origin', 'https://pages.example']],
  () => [
    ['Origin', 'https://pages.example'],
    ['Access-Control-Request-Method', 'POST'],
  ],
  () => [
    ['Cookie', 'a=b'],
    ['X-Forwarded-For', '1.2.3.4'],
    ['User-Agent', 'test/1'],
    ['X-Request-Id', '1'],
  ],
  () => [['Calling-Card-Assertion', 'forged']],
  () => [['Content-Encoding', 'gzip']],
  () => [['Expect', '100-continue']],
  () => [
    ['If-None-Match', '*'],
    ['Range', 'bytes=0-1'],
  ],
]

const contentTypes = [
  ...[
    'application/json; charset=utf-8',
    'application/a2a+json',
    'APPLICATION/JSON',
    'application/vnd.a+json',
    'text/json',
    'text/plain',
  ],
  ...[
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'application/json, text/plain',
    'multipart/form-data',
    'json',
    '',
  ],
]

type Call = { version: WireVersion; number: number; random: Random; credentials: Headers | undefined }

/**
 * Adds the headers of a call to a request: its version, its type, credentials, the address of the client, and others.
 */
export const addHeaders = (
  step: { headers: Headers; body?: string },
  { version, number, random, credentials }: Call,
): void => {
  const { headers } = step
  if (!headers.some(([name]) => name === 'Host')) headers.push(['Host', 'cards.example'])
  if (step.body !== undefined || random.chance(0.1)) {
    const type = random.chance(0.93) ? 'application/json' : random.pick(contentTypes)
    if (type !== '') headers.push(['Content-Type', type])
  }
  const named = random.chance(0.93)
    ? version
    : random.pick(['1.0', '0.3', '2.0', '0.2.5', '0.2', '1.0.1', '0.1', 'abc', '', '1.0, 0.3', '1.1'])
  if (random.chance(0.65)) headers.push(['A2A-Version', named])
  headers.push(...addressOf(number, random))
  if (credentials) headers.push(...credentials.filter(([name]) => ['Authorization', 'X-API-Key'].includes(name)))
  else if (random.chance(0.45)) headers.push(...random.pick(credentialsOf)(random))
  for (let count = random.chance(0.3) ? 1 + random.below(2) : 0; count > 0; count--)
    headers.push(...random.pick(otherHeaders)(random))
}

/** Clients of this block exceed limits with their third request: test/support/workers/rate-limit.ts. */
export const LIMITED_BLOCK = '198.19.'

/** Returns an address that no other case has, so that limits do not depend on other cases. */
const addressOf = (number: number, random: Random): Headers => {
  const [high, low] = [(number >> 8) & 255, number & 255]
  const chance = random.below(100)
  if (chance < 4) return [['CF-Connecting-IP', `${LIMITED_BLOCK}${high}.${low}`]]
  if (chance < 6) return [['CF-Connecting-IP', `2001:db8:${(number & 0xffff).toString(16)}::1`]]
  if (chance < 8) return []
  return [['CF-Connecting-IP', `10.${(number >> 16) & 255}.${high}.${low}`]]
}
