// The list of keys, over the page.

import { signal } from '@preact/signals'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { common } from '../words/en/common.ts'
import { shell as words } from '../words/en/shell.ts'

export const shortcutsShown = signal(false)

export function Shortcuts() {
  if (!shortcutsShown.value) return null
  const close = () => {
    shortcutsShown.value = false
  }
  return (
    <Dialog title={words.shortcuts} onClose={close} foot={<Button onPress={close}>{common.close}</Button>}>
      <dl class="shortcuts">
        {words.shortcutList.map(({ keys, does }) => (
          <div key={does}>
            <dt>{does}</dt>
            <dd>
              {keys.map((name) => (
                <kbd key={name} class="key-hint">
                  {name}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <p class="soft meta">{words.shortcutsNote}</p>
    </Dialog>
  )
}
