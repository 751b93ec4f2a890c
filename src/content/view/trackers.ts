// Hosts of pictures that only tell a sender when and where a message is read.

import { getDomain } from 'tldts'

/** Host suffixes, and the names of their owners. Hosts that serve visible pictures as well are left out: a tiny size gives theirs away. */
const TRACKERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'list-manage.com': 'Mailchimp',
    'list-manage1.com': 'Mailchimp',
    'mandrillapp.com': 'Mailchimp',
    'sendgrid.net': 'Twilio SendGrid',
    'mailgun.org': 'Mailgun',
    'sparkpostmail.com': 'SparkPost',
    'sparkpostmail2.com': 'SparkPost',
    'mjt.lu': 'Mailjet',
    'awstrack.me': 'Amazon SES',
    'pstmrk.it': 'Postmark',
    'sendibt1.com': 'Brevo',
    'sendibt2.com': 'Brevo',
    'sendibt3.com': 'Brevo',
    'hubspotemail.net': 'HubSpot',
    'hs-analytics.net': 'HubSpot',
    'hubspotlinks.com': 'HubSpot',
    'klaviyomail.com': 'Klaviyo',
    'customeriomail.com': 'Customer.io',
    'intercom-mail.com': 'Intercom',
    'activehosted.com': 'ActiveCampaign',
    'emltrk.com': 'Litmus',
    'returnpath.net': 'Validity',
    'sailthru.com': 'Sailthru',
    'exct.net': 'Salesforce',
    'pardot.com': 'Salesforce',
    'rs6.net': 'Constant Contact',
    'cmail19.com': 'Campaign Monitor',
    'cmail20.com': 'Campaign Monitor',
    'createsend.com': 'Campaign Monitor',
    'mailtrack.io': 'Mailtrack',
    'mltrk.io': 'Mailtrack',
    'yesware.com': 'Yesware',
    'mixmax.com': 'Mixmax',
    'bananatag.com': 'Staffbase',
    'mailfoogae.appspot.com': 'Streak',
    'getnotify.com': 'GetNotify',
    'readnotify.com': 'ReadNotify',
    'didtheyreadit.com': 'DidTheyReadIt',
    'superhuman.com': 'Superhuman',
    'outreach.io': 'Outreach',
    'salesloft.com': 'Salesloft',
    'google-analytics.com': 'Google',
    'doubleclick.net': 'Google',
    'open.convertkit-mail.com': 'Kit',
    'convertkit-mail2.com': 'Kit',
    'omnisend.com': 'Omnisend',
    'dotdigital-pages.com': 'Dotdigital',
    'trackedlink.net': 'Dotdigital',
  }),
)

/** The owner of a host of trackers; null for other hosts. */
export function trackerOf(host: string): string | null {
  const labels = host.split('.')
  for (let at = 0; at < labels.length - 1; at++) {
    const name = TRACKERS.get(labels.slice(at).join('.'))
    if (name !== undefined) return name
  }
  return null
}

/** Who serves a picture that is too small to be seen. */
export function trackerName(host: string): string {
  return trackerOf(host) ?? getDomain(host) ?? host
}
