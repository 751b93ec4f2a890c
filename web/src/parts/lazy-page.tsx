// Pages whose code is loaded on first use: one that cannot be loaded says so in the place of the page.

import type { ComponentType } from 'preact'
import { lazy } from 'preact-iso'
import { shell as words } from '../words/en/shell.ts'
import { Button } from './button.tsx'
import { Page } from './page.tsx'
import { Empty } from './quiet.tsx'

type Loaded = ComponentType | { default: ComponentType }

/** A page by its import. */
export const lazyPage = (load: () => Promise<Loaded>) => lazy(() => load().catch(() => NotLoaded))

function NotLoaded() {
  const again = (
    <Button kind="primary" onPress={() => location.reload()}>
      {words.loadAgain}
    </Button>
  )
  return (
    <Page title={words.notLoaded}>
      <Empty icon="triangle-alert" title={words.notLoaded} action={again}>
        {words.notLoadedHint}
      </Empty>
    </Page>
  )
}
