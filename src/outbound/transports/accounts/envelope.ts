// Parses a message posted by SNS: its members, and the text that its signature covers.

import { ProductError } from '../../../base/errors.ts'

export type SnsType = 'Notification' | 'SubscriptionConfirmation' | 'UnsubscribeConfirmation'

/** A topic and its region, which also hosts its certificates and its API. */
export interface Topic {
  arn: string
  region: string
  /** Host name of SNS in that region. */
  host: string
}

export interface SnsEnvelope {
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
export function readEnvelope(given: Readonly<Record<string, unknown>>): SnsEnvelope {
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
