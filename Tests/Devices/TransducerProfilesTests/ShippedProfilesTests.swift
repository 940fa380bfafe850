import Reading
import Foundation
import HapticRender
import Testing
import TransducerProfiles

@Suite struct ShippedProfilesTests {
  /// The folder with the profiles of this package.
  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Profiles")

  @Test func catalogContainsEveryFileOfTheFolder() throws {
    let fileNames = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter {
      $0.hasSuffix(".json") && !$0.hasSuffix(".schema.json")
    }.map { String($0.dropLast(5)) }
    #expect(ProfileCatalog.names.sorted() == fileNames.sorted())
  }

  @Test(arguments: ProfileCatalog.names) func embeddedTextEqualsTheFile(name: String) throws {
    let fileData = try Data(contentsOf: Self.folder.appending(path: "\(name).json"))
    #expect(ProfileCatalog.text(named: name) == Array(fileData))
  }

  @Test(arguments: ProfileCatalog.names) func everyProfileIsWrittenBackUnchanged(name: String)
    throws
  {
    let text = try #require(ProfileCatalog.text(named: name))
    let profile = try ProfileFile.read(text: text, name: name)
    #expect(profile.name == name)
    #expect(ProfileFile.write(profile) == text)
    #expect(ProfileCatalog.profile(named: name) == profile)
  }

  @Test func everyTruncationIsRefused() throws {
    let text = try #require(ProfileCatalog.text(named: "pulsar"))
    // The line break after the last brace may be missing.
    for byteCount in 0..<(text.count - 1) {
      #expect(throws: InputError.self) {
        try ProfileFile.read(text: Array(text[..<byteCount]), name: "cut")
      }
    }
  }

  @Test func catalogStartsWithDefaultsAndEndsWithForeignMappings() {
    #expect(ProfileCatalog.names.prefix(2) == ["phone", "speaker"])
    #expect(ProfileCatalog.names.suffix(4) == ["mpeg", "meta-quest", "pulsar", "android"])
    #expect(ProfileCatalog.profile(named: "fone") == nil)
  }

  @Test func phoneProfileIsTheDefault() {
    #expect(ProfileCatalog.profile(named: "phone") == .phone)
  }

  @Test func shakersAreLinearWithinTheirPublishedBands() throws {
    let shakers = ProfileCatalog.names.compactMap(ProfileCatalog.profile(named:)).filter {
      $0.hardware != nil
    }
    #expect(shakers.count == 21)
    for shaker in shakers {
      #expect(shaker.intensity == .power(exponent: 1), "\(shaker.name)")
      #expect(!shaker.sources.isEmpty, "\(shaker.name)")
      guard let band = shaker.hardware?.bandHertz else { continue }
      #expect(band.contains(shaker.frequency.lowHertz), "\(shaker.name)")
      #expect(band.contains(shaker.frequency.highHertz), "\(shaker.name)")
    }
  }

  @Test(arguments: ["mpeg", "meta-quest", "pulsar", "android"])
  func foreignMappingsNameTheirRepositoryAndCommit(
    name: String
  ) throws {
    let profile = try #require(ProfileCatalog.profile(named: name))
    let firstSource = try #require(profile.sources.first)
    #expect(firstSource.contains("/") && firstSource.contains(", commit "))
  }
}
