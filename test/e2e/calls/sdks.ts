import { sdk0 } from './sdk-0-3.ts'
import { sdk1 } from './sdk-1.ts'
import type { Sdk } from './session.ts'

/** Every generation of the official JavaScript SDK over every binding that this host forwards. */
export const sdks: readonly Sdk[] = [
  sdk1('JSONRPC'),
  sdk1('HTTP+JSON'),
  sdk1('JSONRPC', true),
  sdk1('HTTP+JSON', true),
  sdk0('JSONRPC'),
  sdk0('HTTP+JSON'),
]
