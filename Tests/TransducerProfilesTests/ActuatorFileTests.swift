import Reading
import Foundation
import HapticRender
import Testing

@testable import TransducerProfiles

/// Actuator files of the Meta Haptics SDK as profiles.
@Suite struct ActuatorFileTests {
  private static let text = """
    {
      // a comment
      metadata: { device: 'Somebody\\'s "puck"', },
      continuous: { gain: 0.8, emphasis_ducking: .25, frequency_min: 55, frequency_max: 200., },
      emphasis: {
        gain: 1, fade_out_percent: 0, /* over
        two lines */
        frequency_min: { output_frequency: 60, duration_ms: 40, shape: 'sine' },
        frequency_max: { "output_frequency": 160, duration_ms: +20, shape: "square" },
      },
    }
    """

  @Test func everyValueHasItsPlaceInTheProfile() throws {
    let (profile, losses) = try ActuatorFile.profile(of: Array(Self.text.utf8), file: "a.acf", name: "puck")
    #expect(profile.name == "puck")
    #expect(profile.summary.contains("Somebody's \"puck\""))
    #expect(profile.frequency == FrequencyMapping(low: 55, high: 200, scale: .linear))
    #expect(profile.intensity == .power(exponent: 2))
    #expect(profile.level == 0.4 && profile.duck == 0.25)
    #expect(profile.transient.frequency == FrequencyMapping(low: 60, high: 160, scale: .linear))
    #expect(profile.transient.length == .seconds(low: 0.04, high: 0.02))
    #expect(profile.transient.level == 0.5 && profile.transient.squareness == 0...1)
    #expect(losses.count == 1)
    let again = try ProfileFile.read(text: ProfileFile.write(profile), name: "puck.json")
    #expect(again == profile)
  }

  @Test func whatAProfileCannotHoldIsReported() throws {
    let text = Self.text.replacing("'sine'", with: "'saw'").replacing(
      "fade_out_percent: 0", with: "fade_out_percent: 40")
    let losses = try ActuatorFile.profile(of: Array(text.utf8), file: "a", name: "a").losses
    #expect(losses.contains("the shape saw becomes a sine"))
    #expect(losses.contains("a fade by 40.0 % falls to silence here"))
  }

  @Test func errorsHaveTheirPlaceInTheFile() {
    func error(_ text: String) -> String {
      do throws(InputError) {
        _ = try ActuatorFile.profile(of: Array(text.utf8), file: "a.acf", name: "a")
        return "none"
      } catch { return "\(error.place): \(error.finding.message)" }
    }
    #expect(error(Self.text.replacing("gain: 0.8", with: "gain: 1.8")) == "a.acf:4:23: gain is 1.8, outside 0.0 to 1.0")
    #expect(
      error(Self.text.replacing("'sine'", with: "'round'")) == "a.acf:8:68: shape must be sine, square, triangle or saw"
    )
    #expect(error("{ continuous: [ }").hasPrefix("a.acf:1:17"))
    #expect(error("{}") == "a.acf:1:1: continuous must be an object")
  }

  @Test func theMakersFilesAreRead() throws {
    guard let corpus = ProcessInfo.processInfo.environment["TEMBLOR_TEST_FORMATS"] else { return }
    let names = try FileManager.default.contentsOfDirectory(atPath: corpus + "/acf").filter { $0.hasSuffix(".acf") }
    #expect(names.count == 4)
    for name in names {
      let text = try Data(contentsOf: URL(filePath: "\(corpus)/acf/\(name)"))
      let profile = try ActuatorFile.profile(of: Array(text), file: name, name: "a").profile
      let quest = try #require(ProfileCatalog.profile(named: "meta-quest"))
      guard name == "MetaQuest.acf" else { continue }
      #expect(profile.frequency == quest.frequency && profile.transient == quest.transient)
      #expect(profile.level == quest.level && profile.duck == quest.duck)
    }
  }
}
