// Words of the first page of the console.

import { count, plural } from '../../base/numbers.ts'

export const overview = {
  spans: { '1': 'Today', '7': 'Last 7 days', '30': 'Last 30 days' } as Record<string, string>,
  span: 'Span',
  before: { '1': 'yesterday', '7': 'last week', '30': 'last month' } as Record<string, string>,
  needs: 'Needs you',
  domainFailed: (domain: string) => `Records of ${domain} are missing`,
  domainFailedNote: 'It stopped receiving until they are published again.',
  domainDiffers: (domain: string) => `Records of ${domain} differ from what is wanted`,
  domainDiffersNote: 'Other servers may refuse its mail.',
  domainPending: (domain: string) => `${domain} waits for its records`,
  domainPendingNote: 'It works once they are published.',
  showRecords: 'Show the records',
  accountFailed: (name: string) => `Sending account “${name}” is in error`,
  showAccount: 'Show the account',
  accountFull: (name: string) => `“${name}” has nearly sent what it may today`,
  accountFullNote: (used: string, most: string) => `${used} of ${most}; messages wait when it is full.`,
  limitNear: (resource: string) => `${resource}: nearly at the limit of the team`,
  limitNearNote: (used: string, most: string) => `${used} of ${most}`,
  showLimits: 'Show the limits',
  webhookOff: (url: string) => `Webhook to ${url} was turned off`,
  webhookOffNote: 'It failed too often. Events are kept and can be sent again.',
  showWebhook: 'Show the webhook',
  figures: { sent: 'Sent', delivered: 'Delivered', received: 'Received', bounced: 'Bounced' },
  more: (percent: string, before: string) => `${percent} % more than ${before}`,
  less: (percent: string, before: string) => `${percent} % less than ${before}`,
  same: (before: string) => `as many as ${before}`,
  noneBefore: (before: string) => `none ${before}`,
  deliveredNote: (delivered: number, waiting: number) =>
    waiting > 0
      ? `${plural(delivered, 'message', 'messages')}, ${count(waiting)} waiting`
      : plural(delivered, 'message', 'messages'),
  nothingSent: 'nothing sent',
  bounceGood: 'Good, the limit is 2 %',
  bounceBad: 'Above 2 %: providers may stop you',
  chart: (unit: string) => `Messages, ${unit}`,
  units: { '1': 'every hour', '7': 'every 3 hours', '30': 'each day' } as Record<string, string>,
  series: { received: 'Received', sent: 'Sent', failed: 'Failed' },
  failures: 'Last failures',
  allFailures: 'All in Delivery',
  noFailures: 'No message failed in this span.',
  failureColumns: { time: 'Time', recipient: 'Recipient', subject: 'Subject', what: 'What happened' },
  refused: 'Refused',
  steps: 'First steps',
  stepsDone: (done: number, all: number) => `${done} of ${all} done`,
  step: {
    domain: { name: 'Add a domain', text: 'Your addresses end with it.', verb: 'Add a domain' },
    records: {
      name: 'Publish its records',
      text: 'They show other servers that mail for your domain comes here.',
      verb: 'Show the records',
    },
    mailbox: { name: 'Make a mailbox', text: 'An address that keeps mail.', verb: 'Make a mailbox' },
    person: {
      name: 'Invite a person',
      text: 'Each person signs in as themselves; no password is shared.',
      verb: 'Invite a person',
    },
    received: {
      name: 'Receive a first message',
      text: 'Write to your new address from any other one.',
      verb: 'Show what arrives',
    },
    sent: { name: 'Send a first message', text: 'Connect a mail program, or call the API.', verb: 'Show mailboxes' },
    webhook: {
      name: 'Notify a program by webhook',
      text: 'Mailstead calls an address of yours when mail arrives or fails.',
      verb: 'Add a webhook',
    },
    second: {
      name: 'Keep a second way in',
      text: 'If this device is lost, there is no other way in.',
      verb: 'Add a passkey',
    },
  },
}
