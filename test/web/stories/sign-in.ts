// Signing in: what a browser without a session sees, and that nothing of the API opens for it.

import assert from 'node:assert/strict'
import type { Story } from '../story.ts'

export const signInStories: readonly Story[] = [
  {
    name: 'a person without a session is asked to sign in, and comes back to the page they wanted',
    async run(web) {
      const page = await web.open(null)
      await page.page.goto(`${web.appliance.origin}/console/${web.ids.team}/domains`)
      await page.isDrawn()
      const { pathname, searchParams } = new URL(page.page.url())
      assert.equal(pathname, '/sign-in')
      assert.equal(searchParams.get('next'), `/console/${web.ids.team}/domains`)
      assert.ok(page.forgive(/401/) > 0, 'the server refused to say who is signed in')
      await page.page.getByLabel('Mail address').fill('somebody@elsewhere.example')
      await page.page.getByRole('button', { name: 'Mail me a link' }).click()
      await page.page.getByText('a link is on its way').waitFor()
      page.hasNoComplaints('sign-in')
      await page.close()
    },
  },
]
