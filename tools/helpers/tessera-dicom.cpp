// tessera-dicom: unpacks the pixels of DICOM frames with GDCM (JPEG, JPEG-LS, JPEG 2000), for the library's reader. A program of its own, because GDCM is C++
// and brings codecs that read what strangers wrote: when one crashes, the reader says so.
//
//   tessera-dicom     answers frames from standard input, one after another, until it ends. A frame is a line and its bytes:
//                       SYNTAX ROWS COLUMNS SAMPLES ALLOCATED STORED HIGH SIGNED COLOUR BYTES
//                     and the answer "samples BYTES YBR BYPLANES" and the bytes, little-endian, or "failed WHY". See src/formats/dicom/unpack.c.
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <sys/resource.h>

#include <gdcmDataElement.h>
#include <gdcmFragment.h>
#include <gdcmImage.h>
#include <gdcmImageChangeTransferSyntax.h>
#include <gdcmSequenceOfFragments.h>
#include <gdcmTrace.h>

namespace {

struct Frame {
    char syntax[80], color[32];
    int rows, columns, samples, allocated, stored, high, is_signed;
    long long bytes;
};

bool read_exactly(void *to, size_t size) { return std::fread(to, 1, size, stdin) == size; }

std::string fail(const std::string &why)
{
    std::string line = "failed " + why;
    for (char &c : line)
        if (c == '\n') c = ' ';
    return line.substr(0, 240) + "\n";
}

std::string unpack(const Frame &f, const std::vector<char> &packed, std::vector<char> &samples)
{
    gdcm::SmartPointer<gdcm::SequenceOfFragments> pieces = new gdcm::SequenceOfFragments;
    gdcm::Fragment piece;
    piece.SetByteValue(packed.data(), static_cast<uint32_t>(packed.size()));
    pieces->AddFragment(piece);
    gdcm::DataElement pixels(gdcm::Tag(0x7fe0, 0x0010), 0, gdcm::VR::OB);
    pixels.SetVR(gdcm::VR::OB);
    pixels.SetValue(*pieces);

    gdcm::SmartPointer<gdcm::Image> image = new gdcm::Image;
    const gdcm::TransferSyntax::TSType syntax = gdcm::TransferSyntax::GetTSType(f.syntax);
    if (syntax == gdcm::TransferSyntax::TS_END) return fail(std::string("GDCM does not know transfer syntax ") + f.syntax);
    std::string color = f.color;
    for (char &c : color)
        if (c == '_' && color == "PALETTE_COLOR") c = ' ';
    const gdcm::PhotometricInterpretation::PIType kind = gdcm::PhotometricInterpretation::GetPIType(color.c_str());
    image->SetTransferSyntax(gdcm::TransferSyntax(syntax));
    image->SetNumberOfDimensions(2);
    image->SetDimension(0, static_cast<unsigned>(f.columns));
    image->SetDimension(1, static_cast<unsigned>(f.rows));
    image->SetPixelFormat(gdcm::PixelFormat(static_cast<unsigned short>(f.samples), static_cast<unsigned short>(f.allocated),
                                            static_cast<unsigned short>(f.stored), static_cast<unsigned short>(f.high),
                                            static_cast<unsigned short>(f.is_signed)));
    image->SetPhotometricInterpretation(gdcm::PhotometricInterpretation(
        kind == gdcm::PhotometricInterpretation::PALETTE_COLOR ? gdcm::PhotometricInterpretation::MONOCHROME2 // the numbers of the palette
                                                               : kind));
    image->SetDataElement(pixels);

    gdcm::ImageChangeTransferSyntax change;
    change.SetTransferSyntax(gdcm::TransferSyntax(gdcm::TransferSyntax::ExplicitVRLittleEndian));
    change.SetInput(*image);
    if (!change.Change()) return fail("GDCM cannot unpack them: damaged, or not what the data set says");
    const gdcm::Image &plain = static_cast<const gdcm::Image &>(change.GetOutput());
    samples.resize(plain.GetBufferLength());
    if (!plain.GetBuffer(samples.data())) return fail("GDCM gives no samples");
    const gdcm::PhotometricInterpretation::PIType now = plain.GetPhotometricInterpretation();
    const bool ybr = now == gdcm::PhotometricInterpretation::YBR_FULL || now == gdcm::PhotometricInterpretation::YBR_FULL_422;
    char line[100];
    std::snprintf(line, sizeof line, "samples %zu %d %d\n", samples.size(), ybr ? 1 : 0, f.samples > 1 && plain.GetPlanarConfiguration() ? 1 : 0);
    return line;
}

} // namespace

int main()
{
    const rlim_t most = static_cast<rlim_t>(8) << 30;
    const rlimit limit = { most, most }; // a damaged frame may ask for anything
    setrlimit(RLIMIT_AS, &limit);
    gdcm::Trace::DebugOff();
    gdcm::Trace::WarningOff();
    gdcm::Trace::ErrorOff();
    char line[256];
    while (std::fgets(line, sizeof line, stdin)) {
        Frame f;
        if (std::sscanf(line, "%79s %d %d %d %d %d %d %d %31s %lld", f.syntax, &f.rows, &f.columns, &f.samples, &f.allocated, &f.stored, &f.high,
                        &f.is_signed, f.color, &f.bytes) != 10 ||
            f.bytes < 0 || f.bytes > 0x7fffffff) {
            std::fprintf(stderr, "tessera-dicom: frames come from tessera, on standard input\n");
            return 2;
        }
        std::vector<char> packed, samples;
        std::string answer;
        try {
            packed.resize(static_cast<size_t>(f.bytes));
            if (!read_exactly(packed.data(), packed.size())) return 2;
            if (packed.size() % 2) packed.push_back(0);
            answer = unpack(f, packed, samples);
        } catch (const std::exception &e) {
            answer = fail(e.what());
        }
        if (answer.compare(0, 6, "failed") == 0) samples.clear();
        if (std::fwrite(answer.data(), 1, answer.size(), stdout) != answer.size() ||
            std::fwrite(samples.data(), 1, samples.size(), stdout) != samples.size() || std::fflush(stdout))
            return 1;
    }
    return 0;
}
