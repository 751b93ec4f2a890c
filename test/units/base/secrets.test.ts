// Keys, seals, ids and canonical JSON.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { canonicalJson } from '../../../src/base/canonical-json.ts'
import { ID_PREFIX, type IdKind, idPattern, newId } from '../../../src/base/ids.ts'
import { isSecret, newSecret, Vault } from '../../../src/base/secrets.ts'

describe('secrets', () => {
  it('have the form of docs/design/http.md §2 and recognise themselves', () => {
    for (const prefix of ['srk_', 'smk_', 'sok_'] as const) {
      const secret = newSecret(prefix)
      assert.match(secret, new RegExp(`^${prefix}[0-9A-Za-z]{46}$`))
      assert.ok(isSecret(secret))
    }
  })

  it('refuse a single wrong character anywhere', () => {
    const secret = newSecret('srk_')
    for (let at = 4; at < secret.length; at++) {
      const other = secret[at] === 'x' ? 'y' : 'x'
      assert.ok(!isSecret(secret.slice(0, at) + other + secret.slice(at + 1)), `position ${at}`)
    }
    for (const wrong of ['', 'srk_', secret.slice(0, -1), `${secret}0`, ` ${secret}`, secret.replace('srk', 'zzz')]) {
      assert.ok(!isSecret(wrong), wrong)
    }
  })
})

describe('the vault', () => {
  const vault = new Vault(Buffer.alloc(32, 1))

  it('opens what it sealed, for that purpose only', () => {
    const sealed = vault.seal('dkim', 'private')
    assert.equal(vault.open('dkim', sealed).toString(), 'private')
    assert.throws(() => vault.open('other', sealed))
    assert.throws(() => new Vault(Buffer.alloc(32, 2)).open('dkim', sealed))
    for (const at of [0, 12, sealed.length - 1]) {
      const touched = Buffer.from(sealed)
      touched[at]! ^= 1
      assert.throws(() => vault.open('dkim', touched), `byte ${at}`)
    }
  })

  it('never seals twice alike and macs always alike', () => {
    assert.notDeepEqual(vault.seal('a', 'x'), vault.seal('a', 'x'))
    assert.deepEqual(vault.mac('a', 'x'), vault.mac('a', 'x'))
    assert.notDeepEqual(vault.mac('a', 'x'), vault.mac('b', 'x'))
  })
})

const isId = (kind: IdKind, id: string) => new RegExp(idPattern(kind)).test(id)

describe('ids', () => {
  it('have their prefix and 24 characters, and differ by kind', () => {
    const kinds = Object.keys(ID_PREFIX) as IdKind[]
    for (const kind of kinds) {
      const id = newId(kind)
      assert.match(id, new RegExp(`^${ID_PREFIX[kind]}[a-z0-9]{24}$`))
      for (const other of kinds) assert.equal(isId(other, id), other === kind)
    }
    assert.ok(!isId('message', 'msg_ABCDEFGHIJKLMNOPQRSTUVWX'))
    assert.ok(!isId('message', 'msg_abc'))
  })

  it('begin with the time in milliseconds, so that they are added at the end of an index', () => {
    const times: number[] = []
    for (let i = 0; i < 3; i++) times.push(Date.now(), Number.parseInt(newId('message').slice(4, 12), 36))
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    )
  })

  it('use every character about equally often after the time, and never the same ones', () => {
    const counts = new Map<string, number>()
    const tails = new Set<string>()
    for (let i = 0; i < 6000; i++) tails.add(newId('message').slice(12))
    assert.equal(tails.size, 6000)
    for (const tail of tails) for (const c of tail) counts.set(c, (counts.get(c) ?? 0) + 1)
    assert.equal(counts.size, 36)
    const expected = (6000 * 16) / 36
    for (const [c, count] of counts) assert.ok(Math.abs(count - expected) < expected * 0.15, `${c}: ${count}`)
  })
})

describe('canonical JSON', () => {
  it('is the vector of docs/design/http.md §12', () => {
    assert.equal(canonicalJson({ b: [{ z: 1, a: 2 }], a: null }), '{"a":null,"b":[{"a":2,"z":1}]}')
  })

  it('keeps a member called __proto__ and leaves undefined out', () => {
    assert.equal(canonicalJson(JSON.parse('{"__proto__":{"b":1},"a":2}')), '{"__proto__":{"b":1},"a":2}')
    assert.equal(canonicalJson({ a: undefined, b: 1 }), '{"b":1}')
  })
})
