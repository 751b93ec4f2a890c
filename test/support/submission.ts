// A mail program that submits messages: signs in on the listener with TLS.

import type { TestAppliance } from './appliance.ts'
import { SmtpClient } from './smtp.ts'

/** The message of PLAIN (RFC 4616), in base64. */
export function plainCredentials(name: string, secret: string): string {
  return Buffer.from(`\0${name}\0${secret}`).toString('base64')
}

/** Connects with TLS and says EHLO. @returns the client, and what the server offers */
export async function connectSubmission({
  ports,
}: Pick<TestAppliance, 'ports'>): Promise<{ client: SmtpClient; offered: string[] }> {
  const client = await SmtpClient.secure(ports.submissions)
  await client.expect(220)
  const { lines } = await client.command('EHLO client.test', 250)
  return { client, offered: lines.slice(1) }
}

/** Connects and signs in with a key or an app password of the mailbox. */
export async function signInToSubmit(
  appliance: Pick<TestAppliance, 'ports'>,
  { email, key }: { email: string; key: string },
): Promise<SmtpClient> {
  const { client } = await connectSubmission(appliance)
  await client.command(`AUTH PLAIN ${plainCredentials(email, key)}`, 235)
  return client
}
