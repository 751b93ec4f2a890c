// Sets the chosen theme and density before the first paint; what was not chosen follows the system.
try {
  const { theme, density } = JSON.parse(localStorage.getItem('mailstead.look') || '{}')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
  if (density === 'compact') document.documentElement.dataset.density = density
} catch {
  // Storage is off: the system decides.
}
