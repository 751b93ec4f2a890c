// SASL mechanisms as state machines: the examples of their RFCs, malformed messages, and channel binding.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deriveScramKeys, isScramProof, scramServerSignature } from '../../../src/base/scram.ts'
import { mechanismOf, offeredMechanisms, openSasl, SASL_MECHANISMS, type SaslMechanism } from '../../../src/net/sasl.ts'
import {
  SASL_MESSAGE_MAX,
  type SaslCredentials,
  type SaslDeps,
  type SaslExchange,
} from '../../../src/net/sasl-exchange.ts'

const SALT = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64')
const DISCOVERY = 'https://mail.example/.well-known/oauth-authorization-server'

function open(mechanism: SaslMechanism, deps: Partial<SaslDeps> = {}): SaslExchange {
  return openSasl(mechanism, { scramSalt: () => SALT, bindings: new Map(), discovery: DISCOVERY, ...deps })
}

/** The text of a challenge. */
function challenge(exchange: SaslExchange, response: string | null): string {
  const step = exchange.respond(response === null ? null : Buffer.from(response))
  assert.equal(step.next, 'challenge', JSON.stringify(step))
  return step.next === 'challenge' ? step.data.toString() : ''
}

function credentials(exchange: SaslExchange, response: string | Buffer): SaslCredentials {
  const step = exchange.respond(Buffer.from(response))
  assert.equal(step.next, 'verify', JSON.stringify(step))
  return (step as { credentials: SaslCredentials }).credentials
}

function refused(mechanism: SaslMechanism, response: string | Buffer, deps?: Partial<SaslDeps>): string {
  const step = open(mechanism, deps).respond(Buffer.from(response))
  assert.equal(step.next, 'malformed', JSON.stringify(response.toString()))
  return (step as { reason: string }).reason
}

describe('the list of mechanisms', () => {
  it('is empty before TLS, and without channel binding behind a proxy that ends TLS', () => {
    assert.deepEqual(offeredMechanisms(null), [])
    assert.deepEqual(offeredMechanisms('here'), SASL_MECHANISMS)
    assert.deepEqual(
      SASL_MECHANISMS.filter((one) => !offeredMechanisms('proxy').includes(one)),
      ['SCRAM-SHA-256-PLUS'],
    )
    assert.equal(mechanismOf('scram-sha-256', 'here'), 'SCRAM-SHA-256')
    assert.equal(mechanismOf('PLAIN', null), undefined)
    assert.equal(mechanismOf('GSSAPI', 'here'), undefined)
  })
})

describe('PLAIN', () => {
  it('reads the examples of RFC 4616 §4', () => {
    const wanted = { kind: 'password', name: 'tim', secret: 'tanstaaftanstaaf' }
    assert.deepEqual(credentials(open('PLAIN'), '\0tim\0tanstaaftanstaaf'), wanted)
    assert.match(refused('PLAIN', 'Ursel\0Kurt\0xipj3plmq'), /another user/)
  })

  it('asks for the message when the command brought none, and takes an equal authorization identity', () => {
    const exchange = open('PLAIN')
    assert.equal(challenge(exchange, null), '')
    assert.deepEqual(credentials(exchange, 'Ana@a.test\0ana@a.test\0x'), {
      ...{ kind: 'password', name: 'ana@a.test', secret: 'x' },
    })
    assert.equal(exchange.conclude({ accepted: true }), null)
  })

  it('refuses other forms, bytes that are not UTF-8, and messages that are too long', () => {
    for (const wrong of ['', 'a', '\0a', '\0\0b', '\0a\0', '\0a\0b\0', '\0a\0b\0c']) refused('PLAIN', wrong)
    refused('PLAIN', Buffer.from([0, 0x61, 0, 0xff]))
    assert.equal(credentials(open('PLAIN'), `\0a\0${'x'.repeat(SASL_MESSAGE_MAX - 3)}`).kind, 'password')
    refused('PLAIN', `\0a\0${'x'.repeat(SASL_MESSAGE_MAX - 2)}`)
  })
})

describe('LOGIN', () => {
  it('asks for the user name and the password', () => {
    const exchange = open('LOGIN')
    assert.equal(challenge(exchange, null), 'Username:')
    assert.equal(challenge(exchange, 'ana@a.test'), 'Password:')
    assert.deepEqual(credentials(exchange, 'se cret'), { kind: 'password', name: 'ana@a.test', secret: 'se cret' })
  })

  it('takes the user name with the command, and refuses empty ones and NUL', () => {
    assert.equal(challenge(open('LOGIN'), 'ana@a.test'), 'Password:')
    refused('LOGIN', '')
    refused('LOGIN', 'ana\0')
    const exchange = open('LOGIN')
    challenge(exchange, 'ana')
    assert.equal(exchange.respond(Buffer.alloc(0)).next, 'malformed')
  })
})

describe('SCRAM-SHA-256', () => {
  // RFC 7677 §3
  const nonce = () => '%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0'
  const first = 'n,,n=user,r=rOprNGfwEbeRWgbNEkqO'
  const serverFirst = 'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096'
  const withoutProof = 'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0'
  const final = `${withoutProof},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=`

  it('gives the messages of RFC 7677 §3', async () => {
    const exchange = open('SCRAM-SHA-256', { nonce })
    assert.equal(challenge(exchange, null), '')
    assert.equal(challenge(exchange, first), serverFirst)
    const found = credentials(exchange, final)
    assert.ok(found.kind === 'scram')
    assert.equal(found.name, 'user')
    const keys = await deriveScramKeys('pencil', SALT)
    assert.equal(isScramProof(keys, found.proof), true)
    const serverSignature = scramServerSignature(keys, found.proof.authMessage)
    assert.equal(
      exchange.conclude({ accepted: true, serverSignature })?.toString(),
      'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
    )
    assert.equal(exchange.conclude({ accepted: false }), null)
    assert.equal(isScramProof(await deriveScramKeys('pencils', SALT), found.proof), false)
    const altered = { ...found.proof, proof: Buffer.from(found.proof.proof).fill(0, 31) }
    assert.equal(isScramProof(keys, altered), false)
  })

  it('never accepts a proof or a key of another length', async () => {
    const keys = await deriveScramKeys('pencil', SALT)
    for (const bytes of [0, 31, 33, 64]) {
      assert.equal(isScramProof(keys, { authMessage: '', proof: Buffer.alloc(bytes) }), false)
      assert.equal(
        isScramProof({ storedKey: Buffer.alloc(bytes) }, { authMessage: '', proof: Buffer.alloc(32) }),
        false,
      )
    }
  })

  it('decodes user names, and uses a fresh nonce for each exchange', () => {
    const asked: string[] = []
    const deps = {
      scramSalt: (name: string) => {
        asked.push(name)
        return SALT
      },
    }
    const nonces = [1, 2].map(() => challenge(open('SCRAM-SHA-256', deps), 'n,,n=a=2Cb=3Dc,r=x,future=1'))
    assert.deepEqual(asked, ['a,b=c', 'a,b=c'])
    assert.notEqual(nonces[0], nonces[1])
    assert.match(nonces[0]!, /^r=x[A-Za-z0-9+/]{24},s=/)
  })

  it('refuses malformed first messages', () => {
    const wrong = [
      ...['', 'n', 'n,,', 'x,,n=u,r=n', 'n,n=u,r=n', 'n,,n=u', 'n,,r=n,n=u', 'n,,n=u,r=', 'n,,n=u,r=a b', 'n,,n=,r=a'],
      ...[
        'n,,n=u=,r=a',
        'n,,n=u=2c,r=a',
        'n,a=other,n=u,r=a',
        'n,,n=u,r=a\0',
        `n,,n=u,r=${'n'.repeat(257)}`,
        'n,,n=u,r=ü',
      ],
    ]
    for (const message of wrong) refused('SCRAM-SHA-256', message)
    assert.equal(refused('SCRAM-SHA-256', 'n,,m=x,n=u,r=a'), 'extensions-not-supported')
    assert.equal(refused('SCRAM-SHA-256', 'p=tls-exporter,,n=u,r=a'), 'unsupported-channel-binding-type')
  })

  it('refuses final messages with another nonce, binding or header, and proofs of another length', () => {
    const proof = final.slice(withoutProof.length)
    const wrong = [
      ...['', withoutProof, `${withoutProof},p=`, `${withoutProof},p=AAAA`, `${withoutProof},p=${'A'.repeat(88)}`],
      ...[`${final}x`, final.replace('hNlF$k0', 'hNlF$k1'), final.replace('rOpr', 'rOpq'), `c=eSws${final.slice(6)}`],
      ...[`r=${withoutProof.slice(9)}${proof}`, `${withoutProof},p=${'A'.repeat(42)}==`],
    ]
    for (const message of wrong) {
      const exchange = open('SCRAM-SHA-256', { nonce })
      challenge(exchange, first)
      assert.equal(exchange.respond(Buffer.from(message)).next, 'malformed', message)
    }
  })

  it('notices that the list of mechanisms was changed on the way (RFC 5802 §6)', () => {
    const bindings = new Map([['tls-exporter', Buffer.alloc(32)]])
    const message = 'y,,n=user,r=x'
    assert.equal(refused('SCRAM-SHA-256', message, { bindings }), 'server-does-support-channel-binding')
    challenge(open('SCRAM-SHA-256'), message)
  })
})

describe('SCRAM-SHA-256-PLUS', () => {
  const bindings = new Map([
    ['tls-exporter', Buffer.alloc(32, 1)],
    ['tls-server-end-point', Buffer.alloc(32, 2)],
  ])
  const final = (header: string, data: Buffer, serverFirst: string) => {
    const nonce = /^r=([^,]+)/.exec(serverFirst)![1]
    return `c=${Buffer.concat([Buffer.from(header), data]).toString('base64')},r=${nonce},p=${'A'.repeat(43)}=`
  }

  it('binds to the connection by either type, and refuses the data of another connection', () => {
    for (const [type, data] of bindings) {
      const header = `p=${type},,`
      const good = open('SCRAM-SHA-256-PLUS', { bindings })
      const found = credentials(good, final(header, data, challenge(good, `${header}n=user,r=x`)))
      assert.ok(found.kind === 'scram')
      const bad = open('SCRAM-SHA-256-PLUS', { bindings })
      const message = final(header, Buffer.alloc(32, 9), challenge(bad, `${header}n=user,r=x`))
      assert.deepEqual(bad.respond(Buffer.from(message)), { next: 'malformed', reason: 'channel-bindings-dont-match' })
    }
  })

  it('requires a binding it knows', () => {
    refused('SCRAM-SHA-256-PLUS', 'n,,n=user,r=x', { bindings })
    refused('SCRAM-SHA-256-PLUS', 'y,,n=user,r=x', { bindings })
    refused('SCRAM-SHA-256-PLUS', 'p=tls-unique,,n=user,r=x', { bindings })
    refused('SCRAM-SHA-256-PLUS', 'p=tls-exporter,,n=user,r=x')
  })
})

describe('OAUTHBEARER and XOAUTH2', () => {
  const token = 'vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg=='

  it('reads the example of RFC 7628 §4.1, and says why it failed (§3.2.2)', () => {
    const exchange = open('OAUTHBEARER')
    const message = `n,a=user@example.com,\u0001host=server.example.com\u0001port=143\u0001auth=Bearer ${token}\u0001\u0001`
    assert.deepEqual(credentials(exchange, message), { kind: 'bearer', name: 'user@example.com', token })
    assert.equal(exchange.conclude({ accepted: true }), null)
    assert.deepEqual(JSON.parse(String(exchange.conclude({ accepted: false }))), {
      ...{ status: 'invalid_token', scope: 'mailbox.read email.receive', 'openid-configuration': DISCOVERY },
    })
  })

  it('takes a token without a name, and a message without a token as one that fails', () => {
    const named = credentials(open('OAUTHBEARER'), `n,,\u0001auth=Bearer ${token}\u0001\u0001`)
    assert.deepEqual(named, { kind: 'bearer', name: '', token })
    const empty = credentials(open('OAUTHBEARER'), 'n,a=u,\u0001auth=\u0001\u0001')
    assert.deepEqual(empty, { kind: 'bearer', name: 'u', token: '' })
  })

  it('reads the message of XOAUTH2', () => {
    const exchange = open('XOAUTH2')
    const message = `user=someuser@example.com\u0001auth=Bearer ${token}\u0001\u0001`
    assert.deepEqual(credentials(exchange, message), { kind: 'bearer', name: 'someuser@example.com', token })
    assert.equal(JSON.parse(String(exchange.conclude({ accepted: false }))).status, '401')
  })

  it('refuses other forms', () => {
    const wrong = [
      '',
      'n,,',
      `n,,\u0001auth=Bearer ${token}`,
      `n,,\u0001auth=Bearer ${token}\u0001`,
      'p=x,,\u0001\u0001',
    ]
    for (const message of wrong) refused('OAUTHBEARER', message)
    refused('OAUTHBEARER', `n,,\u0001auth=Bearer ${'x'.repeat(SASL_MESSAGE_MAX)}\u0001\u0001`)
    for (const message of ['', 'user=a', 'auth=Bearer x\u0001\u0001', 'user=a\u0001auth=Bearer x\u0001']) {
      refused('XOAUTH2', message)
    }
  })
})
