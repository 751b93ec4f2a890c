// SCRAM-SHA-256 and SCRAM-SHA-256-PLUS (RFC 5802, RFC 7677) on the server's side: the password is never sent.

import { randomBytes } from 'node:crypto'
import { SCRAM_ITERATIONS, SCRAM_KEY_BYTES } from '../base/scram.ts'
import {
  FIRST,
  malformed,
  messageText,
  readSaslName,
  type SaslDeps,
  type SaslExchange,
  type SaslStep,
  type SaslVerdict,
} from './sasl-exchange.ts'

const NONCE_BYTES = 18
const NONCE_MAX = 256
const CLIENT_FIRST = /^((?:([ny])|p=([A-Za-z0-9.-]{1,64})),(?:a=([^,]*))?,)(.*)$/s
const CLIENT_FIRST_BARE = /^(?:(m=).*|n=([^,]*),r=([\x21-\x2b\x2d-\x7e]+)(?:,.*)?)$/s
const CLIENT_FINAL = /^(c=([A-Za-z0-9+/]*={0,2}),r=([\x21-\x2b\x2d-\x7e]+)(?:,[A-Za-z]=[^,]*)*),p=([A-Za-z0-9+/]{43}=)$/

/** The first message of the client, and the answer to it. */
interface ScramOpening {
  name: string
  /** The message without its GS2 header (RFC 5802 §7, client-first-message-bare). */
  bare: string
  /** What the client must send as `c=` (cbind-input in base64). */
  binding: string
  /** Both parts. */
  nonce: string
  challenge: string
}

/** @param plus whether the mechanism is SCRAM-SHA-256-PLUS, which requires channel binding */
export function openScram(deps: Pick<SaslDeps, 'scramSalt' | 'bindings' | 'nonce'>, plus: boolean): SaslExchange {
  return new ScramExchange(deps, plus)
}

class ScramExchange implements SaslExchange {
  readonly #deps: Pick<SaslDeps, 'scramSalt' | 'bindings' | 'nonce'>
  readonly #plus: boolean
  #first: ScramOpening | null = null

  constructor(deps: Pick<SaslDeps, 'scramSalt' | 'bindings' | 'nonce'>, plus: boolean) {
    this.#deps = deps
    this.#plus = plus
  }

  respond(response: Buffer | null): SaslStep {
    if (response === null) return FIRST
    const text = messageText(response)
    if (text === null) return malformed('invalid-encoding')
    return this.#first === null ? this.#readFirst(text) : this.#readFinal(text, this.#first)
  }

  conclude({ accepted, serverSignature }: SaslVerdict): Buffer | null {
    if (!accepted || !serverSignature) return null
    return Buffer.from(`v=${Buffer.from(serverSignature).toString('base64')}`)
  }

  #readFirst(text: string): SaslStep {
    const [, header, flag, type, as = '', bare = ''] = CLIENT_FIRST.exec(text) ?? []
    if (header === undefined) return malformed('other-error')
    const binding = this.#bindingOf(header, flag, type)
    if (typeof binding !== 'string') return binding
    const [, extension, written, nonce] = CLIENT_FIRST_BARE.exec(bare) ?? []
    if (extension !== undefined) return malformed('extensions-not-supported')
    if (written === undefined || nonce === undefined || nonce.length > NONCE_MAX) return malformed('other-error')
    const name = readSaslName(written)
    if (name === null || name === '') return malformed('invalid-username-encoding')
    const actingAs = readSaslName(as)
    if (actingAs === null || (actingAs !== '' && actingAs.toLowerCase() !== name.toLowerCase())) {
      return malformed('other-error')
    }
    const whole = nonce + (this.#deps.nonce?.() ?? randomBytes(NONCE_BYTES).toString('base64'))
    const salt = Buffer.from(this.#deps.scramSalt(name)).toString('base64')
    const challenge = `r=${whole},s=${salt},i=${SCRAM_ITERATIONS}`
    this.#first = { name, bare, binding, nonce: whole, challenge }
    return { next: 'challenge', data: Buffer.from(challenge) }
  }

  /** @returns see `ScramOpening.binding` */
  #bindingOf(header: string, flag: string | undefined, type: string | undefined): string | SaslStep {
    if (type !== undefined) {
      const data = this.#plus ? this.#deps.bindings.get(type) : undefined
      if (data === undefined) return malformed('unsupported-channel-binding-type')
      return Buffer.concat([Buffer.from(header), data]).toString('base64')
    }
    if (this.#plus) return malformed('other-error')
    // RFC 5802 §6: the client believes that -PLUS is not offered; it was removed from the list on the way.
    if (flag === 'y' && this.#deps.bindings.size > 0) return malformed('server-does-support-channel-binding')
    return Buffer.from(header).toString('base64')
  }

  #readFinal(text: string, first: ScramOpening): SaslStep {
    const [, withoutProof, binding, nonce, written] = CLIENT_FINAL.exec(text) ?? []
    if (withoutProof === undefined) return malformed('invalid-encoding')
    if (nonce !== first.nonce) return malformed('other-error')
    if (binding !== first.binding) return malformed('channel-bindings-dont-match')
    const proof = Buffer.from(written!, 'base64')
    if (proof.length !== SCRAM_KEY_BYTES) return malformed('invalid-encoding')
    const authMessage = `${first.bare},${first.challenge},${withoutProof}`
    return { next: 'verify', credentials: { kind: 'scram', name: first.name, proof: { authMessage, proof } } }
  }
}
