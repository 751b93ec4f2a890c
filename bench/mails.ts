// The mails of the load: as unlike each other as real ones are where it matters (Message-ID, subject, words), half of them DKIM-signed.

import { generateKeyPairSync } from 'node:crypto'
import process from 'node:process'
import { dkimSign } from 'mailauth'
import type { Zone } from '../test/support/dns.ts'

/** Not below `.test`: OpenDKIM's resolver answers for that itself. */
export const SENDER_DOMAIN = 'sender.example'
export const SENDER = `writer@${SENDER_DOMAIN}`
const SELECTOR = 'bench'
const LINE = 76

const WORDS =
  'invoice meeting tomorrow report shipment customer answer question draft agenda budget contract delivery server update release window harbour copper lantern orchard violin granite meadow compass thunder pepper saddle marble cobalt willow timber anchor beacon candle feather glacier island jungle kernel ladder mirror needle oyster pencil quartz ribbon silver temple umbrella velvet walnut yellow zephyr'.split(
    ' ',
  )

/** A small generator of repeatable numbers below `limit` (xorshift), so that every run sends the same mail. */
export function numbers(seed: number): (limit: number) => number {
  let state = seed | 1
  return (limit) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % limit
  }
}

/** Text of lines and paragraphs with about so many bytes. */
export function text(bytes: number, next: (limit: number) => number): string {
  const lines: string[] = []
  for (let length = 0; length < bytes; ) {
    let line = ''
    while (line.length < LINE - 10) line += `${WORDS[next(WORDS.length)]} `
    lines.push(line.trimEnd())
    length += line.length + 2
  }
  return `${lines.join('\r\n')}\r\n`
}

export function subject(next: (limit: number) => number): string {
  return [0, 1, 2, 3].map(() => WORDS[next(WORDS.length)]).join(' ')
}

export interface Keys {
  /** PEM. */
  private: string
  /** Base64 of the SubjectPublicKeyInfo, as a DKIM record holds it. */
  public: string
}

export function makeKeys(): Keys {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    private: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    public: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
  }
}

/** What a name server must know so that the mails pass SPF, DKIM and DMARC. */
export function zoneOf(keys: Keys): Zone {
  const ttl = 600
  return {
    [SENDER_DOMAIN]: {
      TXT: ['v=spf1 ip4:127.0.0.0/8 -all'],
      MX: [{ priority: 10, exchange: `mx.${SENDER_DOMAIN}` }],
      ttl,
    },
    [`mx.${SENDER_DOMAIN}`]: { A: ['127.0.0.1'], ttl },
    [`_dmarc.${SENDER_DOMAIN}`]: { TXT: ['v=DMARC1; p=reject'], ttl },
    [`${SELECTOR}._domainkey.${SENDER_DOMAIN}`]: { TXT: [`v=DKIM1; k=rsa; p=${keys.public}`], ttl },
    '1.0.0.127.in-addr.arpa': { PTR: [`mx.${SENDER_DOMAIN}`], ttl },
  }
}

/** What the messages of one load have in common. */
export interface MailForm {
  /** Size of each, about. */
  bytes: number
  to: string
  /** PEM of the signing key. */
  key: string
  /** A word that all subjects of the load have and no other message. */
  word: string
}

/** Whether the message with this number carries a DKIM signature: every second one. */
export const isSigned = (index: number): boolean => index % 2 === 1

/** One message of a load. */
export async function mail(index: number, { bytes, to, key, word }: MailForm): Promise<Buffer> {
  const next = numbers(index * 7919 + bytes)
  const head = [
    `From: Writer <${SENDER}>`,
    `To: <${to}>`,
    `Subject: ${subject(next)} ${word} ${index}`,
    `Message-ID: <${index}.${bytes}.${process.pid}@${SENDER_DOMAIN}>`,
    `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 7bit',
  ].join('\r\n')
  const bare = `${head}\r\n\r\n${text(Math.max(100, bytes - head.length - 600), next)}`
  if (!isSigned(index)) return Buffer.from(bare)
  const signer = { signingDomain: SENDER_DOMAIN, selector: SELECTOR, privateKey: key }
  // Its types demand the key at the top level, but only `signatureData` is read; with neither it answers with an empty string.
  const { signatures, errors } = await dkimSign(bare, { ...signer, signatureData: [signer] })
  if (signatures === '') throw new Error(`The message was not signed: ${errors.map(({ err }) => err).join(', ')}.`)
  return Buffer.from(signatures + bare)
}
