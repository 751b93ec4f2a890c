// A person who was given a link to connect an account: the page they see when the issuer sends them back, and its button.

/** Opens the page of the issuer's redirect and presses its button, if it has one. @returns the last page */
export async function confirmConsent(url: string): Promise<{ response: Response; text: string }> {
  const shown = await fetch(url, { redirect: 'manual' })
  const text = await shown.text()
  return shown.status === 200 && text.includes('<form ') ? pressButton(url, text) : { response: shown, text }
}

/** @param text of the page that asks */
export async function pressButton(
  url: string,
  text: string,
  headers: Record<string, string> = {},
): Promise<{ response: Response; text: string }> {
  const [, action] = /<form method="post" action="([^"]+)"/.exec(text)!
  const fields = [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)]
  const response = await fetch(new URL(action!, url), {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields.map(([, name, value]) => [name!, value!.replaceAll('&amp;', '&')])).toString(),
  })
  return { response, text: await response.text() }
}
