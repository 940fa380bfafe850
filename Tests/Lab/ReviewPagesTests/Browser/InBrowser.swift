import Testing

/// All tests that share the browser: one after the other.
@Suite(.serialized, .enabled(if: Browser.isInstalled, "\(Browser.remedy)")) enum InBrowser {}
