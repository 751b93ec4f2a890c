// Where the focus goes when what had it is gone: the title of the page, from which the next Tab reaches its content.

export function focusTitle(): void {
  document.querySelector<HTMLElement>('h1')?.focus()
}

/** The title has the focus when nothing else has it. */
export function focusTitleIfLost(): void {
  if (document.activeElement === null || document.activeElement === document.body) focusTitle()
}
