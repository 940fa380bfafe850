import Testing

/// All tests that share the browser, in sequence.
@Suite(.serialized, .enabled(if: Browser.isInstalled, "\(Browser.installationHint)")) enum InBrowser
{}
