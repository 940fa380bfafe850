import Testing

@testable import ReviewPages

struct HTMLTextTests {
  @Test func textCannotBecomeMarkup() {
    #expect(
      HTMLEscaping.escaped("<a href=\"x\" title='y'>&é</a>")
        == "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;é&lt;/a&gt;")
  }
}
