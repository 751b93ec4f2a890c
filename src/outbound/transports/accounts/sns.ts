// Receives Amazon SES events over SNS, authenticated only by their signature.

import { verify } from 'node:crypto'
import { ProductError } from '../../../base/errors.ts'
import { idPattern } from '../../../base/ids.ts'
import type { Tx } from '../../../db/db.ts'
import { ApiClient } from '../../model/api-client.ts'
import type { OutboundDeps } from '../../model/deps.ts'
import type { Carrier, Delivery, Email, Outcome } from '../../model/records.ts'
import { Certificates, type SnsGet } from './certificates.ts'
import { keyOf } from './readdress.ts'
import { sesMessageId } from './ses-client.ts'
import { readSesEvent, type SesEvent } from './ses-event.ts'

interface SnsDeps extends OutboundDeps {
  emails: {
    byId(id: string): Email | undefined
    byRemoteId(remoteId: string): Email | undefined
    deliveriesOf(emailN: number): Delivery[]
  }
  transitions: { apply(tx: Tx, deliveryN: number, outcome: Outcome, carrier: Carrier | null): boolean }
}

const EMAIL_ID = new RegExp(idPattern('email'))

export class Sns {
  readonly #deps: SnsDeps
  readonly #client: ApiClient
  readonly #get: SnsGet
  readonly #certificates: Certificates

  /** @param get fetches certificates and confirms subscriptions; defaults to HTTPS requests to Amazon */
  constructor(deps: SnsDeps, get?: SnsGet) {
    this.#deps = deps
    this.#client = new ApiClient(deps.clock)
    this.#get = get ?? ((url) => this.#fetch(url))
    this.#certificates = new Certificates(deps.clock, this.#get)
  }

  /**
   * Processes one message posted by SNS. Idempotent: SNS may send a message again.
   * @returns the number of deliveries that changed
   * @throws ProductError validation_error (not from SNS), insufficient_permissions (unknown topic or invalid signature),
   * service_unavailable (the certificate cannot be fetched now)
   */
  async receive(message: Readonly<Record<string, unknown>>): Promise<number> {
    const { config, log } = this.#deps
    const envelope = readEnvelope(message)
    const { topic, type } = envelope
    // Check the topic before an unauthenticated request can trigger a fetch.
    if (!config.SES_TOPIC_ARNS.includes(topic.arn)) {
      throw new ProductError('insufficient_permissions', 'The topic is not in SES_TOPIC_ARNS.')
    }
    await this.#verify(envelope)
    if (type === 'SubscriptionConfirmation') return this.#confirm(envelope)
    if (type === 'UnsubscribeConfirmation') {
      log.warn({ event: 'sns.unsubscribed', topic: topic.arn }, 'SNS subscription removed; delivery events stop')
      return 0
    }
    const event = readSesEvent(envelope.message, this.#deps.clock.now())
    return event === null ? 0 : this.#apply(event)
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  async #verify({ certificateUrl, signed, signature, version }: SnsEnvelope): Promise<void> {
    const key = await this.#certificates.keyAt(certificateUrl)
    if (verify(version === '1' ? 'sha1' : 'sha256', Buffer.from(signed), key, signature)) return
    throw new ProductError('insufficient_permissions', 'The signature does not match the message.')
  }

  /** Builds the confirmation URL from the signed members and ignores the URL in the message. */
  async #confirm({ topic, token }: SnsEnvelope): Promise<number> {
    const query = new URLSearchParams({ Action: 'ConfirmSubscription', TopicArn: topic.arn, Token: token! })
    const answer = await this.#get(`https://${topic.host}/?${query}`)
    if (answer === null) throw new ProductError('service_unavailable', 'The subscription could not be confirmed now.')
    this.#deps.log.info({ event: 'sns.subscribed', topic: topic.arn }, 'SNS subscription confirmed')
    return 0
  }

  async #apply(event: SesEvent): Promise<number> {
    const { db, emails, transitions } = this.#deps
    const email = this.#messageOf(event)
    if (email === undefined) return 0
    const byAddress = new Map(emails.deliveriesOf(email.n).map((delivery) => [keyOf(delivery.to), delivery]))
    return db.write((tx) => {
      let moved = 0
      for (const { recipient, outcome } of event.outcomes) {
        const delivery = byAddress.get(keyOf(recipient))
        if (delivery !== undefined && transitions.apply(tx, delivery.n, outcome, null)) moved++
      }
      return moved
    })
  }

  /** Finds the message by our tag, which works even if the response with the SES id was lost; otherwise by that id. */
  #messageOf({ emailId, messageId }: SesEvent): Email | undefined {
    const { config, emails } = this.#deps
    const marked = emailId !== null && EMAIL_ID.test(emailId) ? emails.byId(emailId) : undefined
    return marked ?? emails.byRemoteId(sesMessageId(config.SES_REGION, messageId))
  }

  async #fetch(url: string): Promise<string | null> {
    const result = await this.#client.call({ method: 'GET', url, headers: { accept: '*/*' } })
    return result.kind === 'answered' && result.status === 200 ? result.text : null
  }
}

type SnsType = 'Notification' | 'SubscriptionConfirmation' | 'UnsubscribeConfirmation'

/** A topic and its region, which also hosts its certificates and its API. */
export interface Topic {
  arn: string
  region: string
  /** Host name of SNS in that region. */
  host: string
}

interface SnsEnvelope {
  type: SnsType
  topic: Topic
  message: string
  /** Confirms a subscription; null for a notification. */
  token: string | null
  /** The signed text. */
  signed: string
  signature: Buffer
  /** Signature version: 1 is SHA-1, 2 is SHA-256. */
  version: '1' | '2'
  certificateUrl: string
}

// The signed text has one line per name and value, sorted by name; missing members are omitted.
const NOTIFICATION = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
const CONFIRMATION = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
const ARN = /^arn:(aws|aws-cn|aws-us-gov):sns:([a-z0-9-]{3,32}):[0-9]{12}:[A-Za-z0-9_-]{1,256}$/
const SIGNATURE = /^[A-Za-z0-9+/]{64,2048}={0,2}$/
const TOKEN_MAX = 1024
const URL_MAX = 300
/**
 * The exact path of an SNS certificate, without a query: the same host serves API responses, which an attacker could fill with
 * their own certificate.
 */
const CERTIFICATE_PATH = /^\/SimpleNotificationService-[0-9a-f]{32}\.pem$/

/** @throws ProductError validation_error for input that SNS does not send */
function readEnvelope(given: Readonly<Record<string, unknown>>): SnsEnvelope {
  const type = text(given, 'Type')
  const isNotification = type === 'Notification'
  if (!isNotification && type !== 'SubscriptionConfirmation' && type !== 'UnsubscribeConfirmation')
    throw foreign('Type')
  const version = text(given, 'SignatureVersion')
  if (version !== '1' && version !== '2') throw foreign('SignatureVersion')
  const signature = text(given, 'Signature')
  if (!SIGNATURE.test(signature)) throw foreign('Signature')
  const topic = readTopic(text(given, 'TopicArn'))
  const lines = (isNotification ? NOTIFICATION : CONFIRMATION)
    .filter((name) => name !== 'Subject' || given.Subject != null)
    .map((name) => `${name}\n${text(given, name)}\n`)
  const token = isNotification ? null : text(given, 'Token')
  if (token !== null && token.length > TOKEN_MAX) throw foreign('Token')
  return {
    type,
    topic,
    message: text(given, 'Message'),
    token,
    signed: lines.join(''),
    signature: Buffer.from(signature, 'base64'),
    version,
    certificateUrl: checkCertificateUrl(text(given, 'SigningCertURL'), topic),
  }
}

/** @throws ProductError validation_error */
function readTopic(arn: string): Topic {
  const [, partition, region] = ARN.exec(arn) ?? []
  if (region === undefined) throw foreign('TopicArn')
  return { arn, region, host: `sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}` }
}

/** A certificate is trusted by its URL: the SNS host in the region of the topic. */
function checkCertificateUrl(text: string, topic: Topic): string {
  const url = text.length <= URL_MAX ? URL.parse(text) : null
  const plain = url !== null && `https://${topic.host}${url.pathname}` === url.href
  if (!plain || !CERTIFICATE_PATH.test(url.pathname)) throw foreign('SigningCertURL')
  return url.href
}

function text(given: Readonly<Record<string, unknown>>, name: string): string {
  const value = Object.hasOwn(given, name) ? given[name] : undefined
  if (typeof value !== 'string') throw foreign(name)
  return value
}

function foreign(member: string): ProductError {
  const message = `${member} is not what Amazon SNS sends.`
  return new ProductError('validation_error', message, { issues: [{ field: member, code: 'invalid_format', message }] })
}
