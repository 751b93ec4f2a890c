// Headers that keep pages of people apart from other sites, whether they run scripts or not.

/** What a page may use: copying, passkeys and the whole screen, for itself. */
const PERMISSIONS = [
  ...['clipboard-write', 'publickey-credentials-get', 'publickey-credentials-create', 'fullscreen'].map(
    (name) => `${name}=(self)`,
  ),
  ...['camera', 'microphone', 'geolocation', 'payment', 'usb', 'serial', 'hid', 'display-capture'].map(
    (name) => `${name}=()`,
  ),
].join(', ')

/** No other site opens, frames or reads the page, and none learns its address, which may hold a secret. */
export const ISOLATION = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': PERMISSIONS,
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex',
}
