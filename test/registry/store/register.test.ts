import { beforeEach, describe, expect, it } from 'vitest'
import { claimHosts } from '../../../src/registry/store/register.ts'
import { createTables } from '../../../src/registry/store/tables.ts'
import { registration } from '../../support/registrations.ts'
import { openSql } from '../../support/storage.ts'

let sql: SqlStorage
beforeEach(() => {
  sql = openSql()
  createTables(sql)
})

const claim = (id: string, hosts: string[], mayClaim: boolean) =>
  claimHosts(sql, registration(id, 'text', { hosts }), mayClaim)
const notOwned = (hostname: string) => ({ outcome: 'host-not-owned', hostname })

describe('a writer without the right to claim host names', () => {
  it('cannot claim the root that its agent became automatically', () => {
    expect(claim('first', [], true)).toMatchObject({ hosts: ['*'], becameRoot: true })
    expect(claim('first', ['*'], false)).toEqual(notOwned('*'))
  })

  it('cannot claim the root that another agent became automatically', () => {
    claim('first', [], true)
    expect(claim('second', ['*'], false)).toEqual(notOwned('*'))
  })

  it('cannot claim a free host name, and keeps the names that its agent has', () => {
    claim('first', ['a.example.com'], true)
    expect(claim('first', ['a.example.com', 'b.example.com'], false)).toEqual(notOwned('b.example.com'))
    expect(claim('first', ['a.example.com'], false)).toMatchObject({ hosts: ['a.example.com', '*'] })
  })
})

describe('a writer with the right to claim host names', () => {
  it('takes the root that another agent became automatically, but no root that was claimed', () => {
    claim('first', [], true)
    expect(claim('second', ['*'], true)).toMatchObject({ hosts: ['*'] })
    expect(claim('third', ['*'], true)).toEqual({ outcome: 'host-taken', hostname: '*', owner: 'second' })
  })
})
