// itk_segment: the segmentation of bench_levelset by ITK's sparse-field level sets, in a process of its own.
//
//   itk_segment IMAGE FIELD NX NY NZ SPACING LOWER UPPER ALPHA ITERATIONS THREADS MASK
//
// IMAGE and FIELD are raw float32 (x fastest), FIELD negative inside; MASK is written as raw bytes, 1 inside. Prints one line of JSON:
// steps, seconds of the steps (the first one, which carries ITK's set-up, left out), seconds of everything. ITK moves the same equation:
// propagation ALPHA times min(I - LOWER, UPPER - I), positive = growth, and curvature 1 - ALPHA times the sum of the principal curvatures.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <itkCommand.h>
#include <itkImage.h>
#include <itkMultiThreaderBase.h>
#include <itkThresholdSegmentationLevelSetImageFilter.h>

using Image = itk::Image<float, 3>;
using Filter = itk::ThresholdSegmentationLevelSetImageFilter<Image, Image>;
using Clock = std::chrono::steady_clock;

static double seconds_between(Clock::time_point a, Clock::time_point b) { return std::chrono::duration<double>(b - a).count(); }

static Image::Pointer read_raw(const char *path, const Image::SizeType &size, double spacing)
{
    auto image = Image::New();
    image->SetRegions(Image::RegionType(size));
    image->SetSpacing(Image::SpacingType(spacing));
    image->Allocate();
    const auto bytes = static_cast<std::streamsize>(size[0] * size[1] * size[2] * sizeof(float));
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char *>(image->GetBufferPointer()), bytes)) throw std::runtime_error(std::string("cannot read ") + path);
    return image;
}

static int run(char **argv)
{
    Image::SizeType size;
    for (int k = 0; k < 3; k++) size[k] = std::strtoul(argv[3 + k], nullptr, 10);
    const double spacing = std::atof(argv[6]), alpha = std::atof(argv[9]);
    const auto iterations = static_cast<unsigned>(std::atoi(argv[10]));
    itk::MultiThreaderBase::SetGlobalMaximumNumberOfThreads(static_cast<itk::ThreadIdType>(std::atoi(argv[11])));
    auto filter = Filter::New();
    filter->SetInput(read_raw(argv[2], size, spacing));
    filter->SetFeatureImage(read_raw(argv[1], size, spacing));
    filter->SetLowerThreshold(static_cast<float>(std::atof(argv[7])));
    filter->SetUpperThreshold(static_cast<float>(std::atof(argv[8])));
    filter->SetPropagationScaling(static_cast<float>(alpha));
    filter->SetCurvatureScaling(static_cast<float>(1 - alpha));
    filter->SetEdgeWeight(0);
    filter->SetIsoSurfaceValue(0);
    filter->SetMaximumRMSError(0); // never stops early
    filter->SetNumberOfIterations(iterations);
    Clock::time_point first, last;
    unsigned events = 0;
    auto observer = itk::CStyleCommand::New();
    struct Times { Clock::time_point *first, *last; unsigned *events; } times = { &first, &last, &events };
    observer->SetClientData(&times);
    observer->SetCallback([](itk::Object *, const itk::EventObject &, void *data) {
        const auto *t = static_cast<Times *>(data);
        *t->last = Clock::now();
        if ((*t->events)++ == 0) *t->first = *t->last;
    });
    filter->AddObserver(itk::IterationEvent(), observer);
    const auto began = Clock::now();
    filter->Update();
    const double all = seconds_between(began, Clock::now());
    const float *phi = filter->GetOutput()->GetBufferPointer();
    std::vector<char> mask(size[0] * size[1] * size[2]);
    for (size_t i = 0; i < mask.size(); i++) mask[i] = phi[i] < 0 ? 1 : 0;
    std::ofstream out(argv[12], std::ios::binary);
    if (!out.write(mask.data(), static_cast<std::streamsize>(mask.size()))) throw std::runtime_error(std::string("cannot write ") + argv[12]);
    std::printf("{\"steps\": %u, \"seconds\": %.9g, \"all_seconds\": %.9g}\n", events > 0 ? events - 1 : 0, seconds_between(first, last), all);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 13) {
        std::fprintf(stderr, "usage: %s IMAGE FIELD NX NY NZ SPACING LOWER UPPER ALPHA ITERATIONS THREADS MASK\n", argv[0]);
        return 2;
    }
    try {
        return run(argv);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "itk_segment: %s\n", error.what());
        return 1;
    }
}
