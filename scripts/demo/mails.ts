// The messages of the demo, and the DNS zone that authenticates their senders.

import type { SendMailOptions } from 'nodemailer'
import type { Zone } from '../../test/support/dns.ts'

/** A domain the sender filter blocks. */
export const NOISY_DOMAIN = 'noisy.test'

/** Sender domains with an SPF record for this machine. */
export const zone: Zone = Object.fromEntries(
  ['harbour.test', 'paper.test', NOISY_DOMAIN].flatMap((domain) => [
    [domain, { TXT: ['v=spf1 ip4:127.0.0.1 -all'], MX: [{ priority: 10, exchange: `mx.${domain}` }] }],
    [`mx.${domain}`, { A: ['127.0.0.1'] }],
    [`_dmarc.${domain}`, { TXT: ['v=DMARC1; p=reject'] }],
  ]),
)

export interface DemoMessage {
  /** What it shows. */
  kind: string
  options: SendMailOptions
  /** The server rejects it. */
  refused?: boolean
}

const QUESTION_ID = '<lunch-1@harbour.test>'

export function demoMessages(alice: string, bob: string): DemoMessage[] {
  const grace = 'Grace Moreau <grace@harbour.test>'
  return [
    {
      kind: 'a plain message to both',
      options: {
        from: grace,
        to: [alice, bob],
        subject: 'Lunch on Thursday?',
        messageId: QUESTION_ID,
        text: 'Hello you two,\n\nthe place by the harbour has opened again. Thursday at one?\n\nGrace\n',
      },
    },
    {
      kind: 'a reply to it',
      options: {
        from: 'Ines Okafor <ines@harbour.test>',
        to: grace,
        cc: [alice, bob],
        // Grace's copy is delivered elsewhere.
        envelope: { from: 'ines@harbour.test', to: [alice, bob] },
        subject: 'Re: Lunch on Thursday?',
        inReplyTo: QUESTION_ID,
        references: QUESTION_ID,
        text: 'Count me in. I will bring the drawings.\n\n> the place by the harbour has opened again. Thursday at one?\n',
      },
    },
    {
      kind: 'a message with two attachments',
      options: {
        from: 'Paper & Sons <accounts@paper.test>',
        to: alice,
        subject: 'Invoice 2030-117',
        text: 'Dear Alice,\n\nplease find our invoice and the delivery terms attached.\n',
        attachments: [
          {
            filename: 'invoice-2030-117.pdf',
            content: Buffer.from('%PDF-1.4\n%demo\n%%EOF\n'),
            contentType: 'application/pdf',
          },
          { filename: 'Lieferbedingungen – kurz.txt', content: 'Delivery within ten days.\n' },
        ],
      },
    },
    {
      kind: 'a message in HTML only',
      options: {
        from: 'Harbour Weekly <news@harbour.test>',
        to: [alice, bob],
        subject: 'New boats, old stories ⚓',
        html: '<html><head><style>p { color: navy }</style></head><body><h1>New boats</h1><p>Three cutters came in on <b>Monday</b>; the <a href="https://harbour.test/cutters">story</a> is online.</p></body></html>',
      },
    },
    {
      kind: 'a message from a blocked sender',
      refused: true,
      options: {
        from: `Offers <offers@${NOISY_DOMAIN}>`,
        to: alice,
        subject: 'LAST CHANCE!!!',
        text: 'Only today.\n',
      },
    },
  ]
}
