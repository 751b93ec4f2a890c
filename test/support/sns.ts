// A fake Amazon SNS: signs messages with a certificate at its own URL.

import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'

export const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:ses-events'
export const CERTIFICATE_URL =
  'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem'

export type SnsMessage = Record<string, string>

const NOTIFICATION = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
const CONFIRMATION = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']

export class SnsSigner {
  /** Content by URL; a test can replace it. */
  readonly places = new Map<string, string>()
  /** Every URL that was fetched. */
  readonly fetched: string[] = []
  readonly #key: KeyObject

  constructor(from = Date.UTC(2025, 0, 1), until = Date.UTC(2027, 0, 1)) {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    this.#key = privateKey
    this.places.set(CERTIFICATE_URL, rsaCertificate(publicKey, privateKey, from, until))
  }

  /** The `fetch` of the appliance. */
  readonly get = async (url: string): Promise<string | null> => {
    this.fetched.push(url)
    return this.places.get(url) ?? null
  }

  /** A notification with an SES event. */
  notification(event: unknown, more: SnsMessage = {}): SnsMessage {
    const message = typeof event === 'string' ? event : JSON.stringify(event)
    return this.signed({ Type: 'Notification', Message: message, ...this.#common(), ...more })
  }

  confirmation(more: SnsMessage = {}): SnsMessage {
    return this.signed({
      Type: 'SubscriptionConfirmation',
      Message: 'You have chosen to subscribe.\nTo confirm, visit the SubscribeURL included in this message.',
      Token: '2336412f37',
      SubscribeURL: `https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=2336412f37`,
      ...this.#common(),
      ...more,
    })
  }

  /** Signs the given message. */
  signed(message: SnsMessage): SnsMessage {
    const names = message.Type === 'Notification' ? NOTIFICATION : CONFIRMATION
    const text = names.flatMap((name) => (message[name] === undefined ? [] : [`${name}\n${message[name]}\n`])).join('')
    const digest = message.SignatureVersion === '2' ? 'sha256' : 'sha1'
    return { ...message, Signature: sign(digest, Buffer.from(text), this.#key).toString('base64') }
  }

  #common(): SnsMessage {
    return {
      MessageId: randomUUID(),
      TopicArn: TOPIC,
      Timestamp: '2026-01-01T00:00:00.000Z',
      SignatureVersion: '1',
      SigningCertURL: CERTIFICATE_URL,
      UnsubscribeURL: 'https://sns.eu-west-1.amazonaws.com/?Action=Unsubscribe',
    }
  }
}

// X.509 in DER (X.690): the minimum for a key and its validity.
function rsaCertificate(publicKey: KeyObject, privateKey: KeyObject, from: number, until: number): string {
  const algorithm = der(0x30, Buffer.from('06092a864886f70d01010b', 'hex'), Buffer.from('0500', 'hex'))
  const name = der(
    0x30,
    der(0x31, der(0x30, Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from('sns.amazonaws.com')))),
  )
  const time = (ms: number) => der(0x18, Buffer.from(`${new Date(ms).toISOString().slice(0, 19).replace(/\D/g, '')}Z`))
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(1)),
    algorithm,
    name,
    der(0x30, time(from), time(until)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  const signature = der(0x03, Buffer.of(0), sign('sha256', body, privateKey))
  const lines = der(0x30, body, algorithm, signature)
    .toString('base64')
    .match(/.{1,64}/g)!
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}
